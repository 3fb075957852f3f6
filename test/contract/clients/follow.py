"""Prints the data of each event of a stream as it comes. The arguments are the address, the API key and, to resume, the last id."""

import sys

import httpx
from httpx_sse import connect_sse

url, key, *last_id = sys.argv[1:]
headers = {"Authorization": f"Bearer {key}", **{"Last-Event-ID": id for id in last_id}}
with httpx.Client(headers=headers, timeout=30) as client:
    with connect_sse(client, "GET", url) as source:
        source.response.raise_for_status()
        for event in source.iter_sse():
            # A position without an event has no data.
            if event.data:
                print(f"data: {event.data}", flush=True)
