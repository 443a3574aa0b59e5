"""The settings of ZeRO-3 in DeepSpeed."""
