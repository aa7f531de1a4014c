"""How fast the console is and how it grows, measured in one run beside what people would use instead.

Each module is a subject: it measures, and gives figures with the targets they have to reach. The peers are driven in
turns with the console, so that whatever else the machine does falls on both.
"""
