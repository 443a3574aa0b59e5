"""What a layer may have instead of plain attention, and models whose layers differ."""
