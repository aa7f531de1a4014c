"""The card on which a person decides on a review."""
