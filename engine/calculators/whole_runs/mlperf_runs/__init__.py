"""Audited steps of MLPerf® Training benchmarks beside what the model predicts."""
