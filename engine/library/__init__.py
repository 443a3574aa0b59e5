"""The engine as a library: functions, records and commands of the package `wallclock`."""
