"""The card on which a person decides."""
