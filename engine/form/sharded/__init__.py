"""What the pages of ZeRO-2 and ZeRO-3 on the tiny model share."""
