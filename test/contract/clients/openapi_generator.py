"""Calls the three operations and reads all pages with the Python client of openapi-generator, unchanged."""

import re
import sys

from openapi_client import ApiClient, Configuration, PetInput, PetsApi, PetStatus
from openapi_client.exceptions import NotFoundException

base_url, token = sys.argv[1:]

with ApiClient(Configuration(host=base_url, access_token=token)) as client:
    pets = PetsApi(client)
    new_pet = PetInput(name="Zoé", categoryId=2**63 - 1, status=PetStatus.SOLD)
    pet = pets.create_pet(new_pet, idempotency_key="python")
    assert pet.category_id == 2**63 - 1, pet
    assert pets.create_pet(new_pet, idempotency_key="python") == pet

    assert pets.get_pet(pet.id) == pet
    try:
        pets.get_pet(10**15)
        raise AssertionError("the animal does not exist")
    except NotFoundException as error:
        assert error.data.code == "pet_not_found", error

    ids, cursor = [], None
    while True:
        page = pets.list_pets_with_http_info(limit=100, cursor=cursor)
        ids += [listed.id for listed in page.data]
        link = re.fullmatch(r'<https?://.+[?&]cursor=(\d+)>; rel="next"', page.headers.get("link", ""))
        if link is None:
            break
        cursor = link[1]
    assert ids == list(range(pet.id, 0, -1)), ids
