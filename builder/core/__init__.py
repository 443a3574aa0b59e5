"""What every room uses: problems, folders, the build cache, processes, Node."""
