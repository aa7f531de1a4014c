"""What reads outside text takes time in proportion to its size: the worst inputs known for each such function."""
