"""Is my memory right?"""
