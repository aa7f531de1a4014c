"""The parts that several pages use."""
