"""What stands apart from the readable engine, and is made with it: signals in time, and pictures of 3-D Gaussians."""
