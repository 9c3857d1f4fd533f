"""One client for all tests: to make one takes longer than most requests."""

import httpx

web = httpx.Client(timeout=60, limits=httpx.Limits(max_keepalive_connections=0))
