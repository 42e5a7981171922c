"""The largest margin exactly: an active set whose intercept costs nothing."""
