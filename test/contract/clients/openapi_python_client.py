"""Calls the operations with the client that openapi-python-client made, unchanged."""

import datetime
import sys
import uuid

from animal_store_client import AuthenticatedClient
from animal_store_client.api.categories import count_animals, list_categories, name_category, remove_category
from animal_store_client.api.events import list_events, list_pet_events
from animal_store_client.api.key import get_key
from animal_store_client.api.pets import batch_pets, create_pet, get_pet, list_pets, remove_pet, restore_pet, update_pet
from animal_store_client.api.webhook_endpoints import add_webhook, get_webhook, list_webhooks, remove_webhook, rotate_webhook_secret, update_webhook
from animal_store_client.models import ApiKey, Batch, BatchOperation, BatchOperationAction, BatchResults, Category, Error, NewCategory, NewPet, NewWebhook, NewWebhookTypesItem, Pet, PetEvent, PetPatch, PetStatus, StatusFilter, Webhook, WebhookPatch, WebhookWithSecret

base_url, token = sys.argv[1:]

with AuthenticatedClient(base_url=base_url, token=token) as client:
    new_pet = NewPet(name="Zoé", category_id=2**63 - 1, status=PetStatus.SOLD)
    key = str(uuid.uuid4())
    pet = create_pet.sync(client=client, body=new_pet, idempotency_key=key)
    assert isinstance(pet, Pet) and pet.category_id == 2**63 - 1, pet
    assert create_pet.sync(client=client, body=new_pet, idempotency_key=key) == pet

    assert get_pet.sync(pet.id, client=client) == pet

    operations = [
        BatchOperation(action=BatchOperationAction.ADD, body=PetPatch(name="Ida", category_id=2**63 - 1)),
        BatchOperation(action=BatchOperationAction.REMOVE, pet_id=10**15),
    ]
    batch = batch_pets.sync(client=client, body=Batch(operations=operations), idempotency_key="batch")
    assert isinstance(batch, BatchResults), batch
    [ida, none] = batch.results
    assert (ida.status, none.status) == (201, 404) and none.body.code.value == "pet_not_found", batch
    repeated = batch_pets.sync(client=client, body=Batch(operations=operations), idempotency_key="batch")
    assert repeated.results[0].replayed and repeated.results[0].body == ida.body, repeated
    assert remove_pet.sync_detailed(ida.body.id, client=client).status_code == 204

    page = list_pets.sync_detailed(client=client, limit=1, status=PetStatus.SOLD)
    assert page.parsed == [pet], page
    tag = page.headers["etag"]
    again = list_pets.sync_detailed(client=client, limit=1, status=PetStatus.SOLD, if_none_match=tag)
    assert again.status_code == 304, again

    missing = get_pet.sync(10**15, client=client)
    assert isinstance(missing, Error) and missing.code.value == "pet_not_found", missing
    renamed = update_pet.sync_detailed(pet.id, client=client, body=PetPatch(name="Mia"))
    assert isinstance(renamed.parsed, Pet) and renamed.parsed.name == "Mia", renamed
    unset = PetPatch(status=None)
    tag = renamed.headers["etag"]
    changed = update_pet.sync(pet.id, client=client, body=unset, if_match=tag)
    assert isinstance(changed, Pet) and changed.to_dict().keys() == {"id", "name", "categoryId"}, changed
    late = update_pet.sync(pet.id, client=client, body=unset, if_match=tag)
    assert isinstance(late, Error) and late.code.value == "precondition_failed", late

    since = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
    events = list_events.sync(client=client, since=since, status=PetStatus.SOLD, limit=1000)
    assert isinstance(events[-1], PetEvent) and events[-1].data.previous.status == PetStatus.SOLD, events
    reset = list_events.sync(client=client, last_event_id_query="0" * 15 + "1-" + "0" * 16)
    assert isinstance(reset, Error) and reset.code.value == "feed_reset", reset

    asking = get_key.sync(client=client)
    assert isinstance(asking, ApiKey) and not asking.read_only, asking
    history = list_pet_events.sync(pet.id, client=client, limit=2)
    assert [event.type_.value for event in history] == ["PetUpdated", "PetUpdated"], history
    assert all(isinstance(event, PetEvent) and event.actor == asking.id for event in history), history
    assert list_pets.sync(client=client, name="MI", status=StatusFilter.NONE, limit=1) == [changed]

    named = name_category.sync(-(2**63), client=client, body=NewCategory(name="Dogs"))
    assert isinstance(named, Category) and named.id == -(2**63), named
    assert list_categories.sync(client=client) == [named]
    counts = {count.id: count.animals for count in count_animals.sync(client=client)}
    assert counts[2**63 - 1] == 1, counts
    taken = name_category.sync(7, client=client, body=NewCategory(name="dogs"))
    assert isinstance(taken, Error) and taken.code.value == "category_name_taken", taken
    assert remove_category.sync_detailed(-(2**63), client=client).status_code == 204

    hook = NewWebhook(url="https://shop.example/hooks", types=[NewWebhookTypesItem.PETCREATED])
    added = add_webhook.sync(client=client, body=hook, idempotency_key="hook")
    assert isinstance(added, WebhookWithSecret) and added.secret.startswith("whsec_"), added
    assert add_webhook.sync(client=client, body=hook, idempotency_key="hook") == added
    patched = update_webhook.sync(added.id, client=client, body=WebhookPatch(types=None))
    assert isinstance(patched, Webhook) and not patched.types, patched
    assert list_webhooks.sync(client=client) == [patched] == [get_webhook.sync(added.id, client=client)]
    rotated = rotate_webhook_secret.sync(added.id, client=client)
    assert isinstance(rotated, WebhookWithSecret) and rotated.secret != added.secret, rotated
    private = add_webhook.sync(client=client, body=NewWebhook(url="https://10.0.0.1/"))
    assert isinstance(private, Error) and private.code.value == "invalid_body", private
    assert remove_webhook.sync_detailed(added.id, client=client).status_code == 204

    category = list_pets.sync_detailed(client=client, category_id=2**63 - 1)
    assert category.parsed == [changed] and category.headers["x-total-count"] == "1", category
    # Of several ids, this generator makes repeated parameters (it ignores `explode`), which the service refuses.
    assert list_pets.sync(client=client, ids=[pet.id]) == [changed]
    for attempt in range(2):
        removed = remove_pet.sync_detailed(pet.id, client=client, idempotency_key="removal")
        assert removed.status_code == 204, removed
    assert list_pets.sync(client=client, ids=[pet.id]) == []
    [removed, *_] = list_pets.sync(client=client, removed=True)
    assert removed.id == pet.id and removed.removed_at, removed
    assert restore_pet.sync(pet.id, client=client, if_match=removed.etag) == changed
    there = restore_pet.sync(pet.id, client=client)
    assert isinstance(there, Error) and there.code.value == "pet_not_removed", there

    refused = create_pet.sync(client=client, body=NewPet(name="", category_id=1))
    assert isinstance(refused, Error) and refused.code.value == "invalid_body", refused

with AuthenticatedClient(base_url=base_url, token="pets_none") as stranger:
    denied = list_pets.sync(client=stranger)
    assert isinstance(denied, Error) and denied.status == 401, denied
