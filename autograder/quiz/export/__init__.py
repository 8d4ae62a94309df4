"""The bank in the formats of other systems, one file a format. All are deterministic: same bank, same bytes."""
