"""Is my MFU right?"""
