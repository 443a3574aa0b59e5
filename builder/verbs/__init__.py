"""What the longer verbs of build.py do, and what all of them share."""
