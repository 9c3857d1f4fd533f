"""Data and measurements that several studies use."""
