"""Follows the links to the next page with requests and with httpx, as their manuals do."""

import sys

import httpx
import requests

base_url, token = sys.argv[1:]
headers = {"Authorization": f"Bearer {token}"}


def read_all(get):
    ids, url = [], f"{base_url}/pets?limit=100"
    while url:
        response = get(url, headers=headers)
        response.raise_for_status()
        ids += [pet["id"] for pet in response.json()]
        url = response.links.get("next", {}).get("url")
    return ids


for get in requests.get, httpx.get:
    ids = read_all(get)
    assert len(ids) > 999 and ids == list(range(ids[0], 0, -1)), ids
