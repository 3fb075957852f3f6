// Calls the operations with the client that oapi-codegen generates, unchanged.
package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"

	pets "animal-store.example/contract/generated"
)

func main() {
	baseUrl, token := os.Args[1], os.Args[2]
	ctx := context.Background()
	client, err := pets.NewClientWithResponses(baseUrl, pets.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+token)
			return nil
		},
	))
	expect(err == nil, err)

	key := "oapi-codegen"
	sold := pets.Sold
	input := pets.PetInput{Name: "Zoé", CategoryId: math.MaxInt64, Status: &sold}
	added, err := client.CreatePetWithResponse(ctx, &pets.CreatePetParams{IdempotencyKey: &key}, input)
	expect(err == nil && added.JSON201 != nil && added.JSON201.CategoryId == math.MaxInt64, err)
	pet := *added.JSON201
	again, err := client.CreatePetWithResponse(ctx, &pets.CreatePetParams{IdempotencyKey: &key}, input)
	expect(err == nil && again.JSON201.Id == pet.Id, err)

	ida, one, far := "Ida", int64(1), int64(1e15)
	several := pets.Batch{Operations: []pets.BatchOperation{
		{Action: pets.Add, Body: &pets.PetPatch{Name: &ida, CategoryId: &one}},
		{Action: pets.Remove, PetId: &far},
	}}
	done, err := client.BatchPetsWithResponse(ctx, &pets.BatchPetsParams{IdempotencyKey: &key}, several)
	expect(err == nil && done.JSON409 != nil && done.JSON409.Code == pets.IdempotencyKeyReused, err)
	done, err = client.BatchPetsWithResponse(ctx, nil, several)
	expect(err == nil && done.JSON200.Results[0].Status == 201 && done.JSON200.Results[1].Status == 404, err)
	body, err := done.JSON200.Results[0].Body.AsPet()
	expect(err == nil && body.Name == ida, err)
	_, err = client.RemovePetWithResponse(ctx, body.Id, nil)
	expect(err == nil, err)

	got, err := client.GetPetWithResponse(ctx, pet.Id, nil)
	expect(err == nil && got.JSON200.Name == "Zoé" && *got.JSON200.Status == sold, err)
	missing, err := client.GetPetWithResponse(ctx, 1e15, nil)
	expect(err == nil && missing.JSON404.Code == pets.PetNotFound, err)

	available, tag := pets.Available, pets.IfMatch("*")
	patch := pets.PetPatch{Status: &available}
	changed, err := client.UpdatePetWithResponse(ctx, pet.Id, &pets.UpdatePetParams{IfMatch: &tag}, patch)
	expect(err == nil && *changed.JSON200.Status == available && changed.JSON200.Name == "Zoé", err)
	tag = got.HTTPResponse.Header.Get("ETag")
	late, err := client.UpdatePetWithApplicationMergePatchPlusJSONBodyWithResponse(
		ctx, pet.Id, &pets.UpdatePetParams{IfMatch: &tag}, patch)
	expect(err == nil && late.JSON412.Code == pets.PreconditionFailed, err)

	most := int32(1000)
	events, err := client.ListEventsWithResponse(ctx, &pets.ListEventsParams{Limit: &most, Status: &sold})
	expect(err == nil && events.ApplicationcloudeventsBatchJSON200 != nil, err)
	batch := *events.ApplicationcloudeventsBatchJSON200
	event, err := batch[len(batch)-1].AsPetEvent()
	expect(err == nil && *event.Data.Previous.Status == sold, event)

	asking, err := client.GetKeyWithResponse(ctx, nil)
	expect(err == nil && !asking.JSON200.ReadOnly, err)
	history, err := client.ListPetEventsWithResponse(ctx, pet.Id, nil)
	expect(err == nil && history.ApplicationcloudeventsBatchJSON200 != nil, err)
	last := (*history.ApplicationcloudeventsBatchJSON200)[0]
	expect(*last.Actor == asking.JSON200.Id && last.Data.Name == "Zoé", last)

	farCategory, dogs := int64(math.MinInt64), pets.CategoryInput{Name: "Dogs"}
	named, err := client.NameCategoryWithResponse(ctx, farCategory, nil, dogs)
	expect(err == nil && named.StatusCode() == 201 && named.JSON201.Id == farCategory, err)
	taken, err := client.NameCategoryWithResponse(ctx, 1, nil, dogs)
	expect(err == nil && taken.JSON409.Code == pets.CategoryNameTaken, err)
	categories, err := client.ListCategoriesWithResponse(ctx, nil)
	expect(err == nil && (*categories.JSON200)[0] == *named.JSON201, err)
	gone, err := client.RemoveCategoryWithResponse(ctx, farCategory, nil)
	expect(err == nil && gone.StatusCode() == 204, err)

	hook := pets.WebhookInput{Url: "https://shop.example/hooks", Types: &[]pets.WebhookInputTypes{pets.WebhookInputTypesPetCreated}}
	hooked, err := client.AddWebhookWithResponse(ctx, nil, hook)
	expect(err == nil && hooked.JSON201 != nil && hooked.JSON201.Secret != "", err)
	hookId := hooked.JSON201.Id
	rotated, err := client.RotateWebhookSecretWithResponse(ctx, hookId, nil)
	expect(err == nil && rotated.JSON200.Id == hookId && rotated.JSON200.Secret != hooked.JSON201.Secret, err)
	hooks, err := client.ListWebhooksWithResponse(ctx, nil)
	expect(err == nil && len(*hooks.JSON200) == 1 && (*hooks.JSON200)[0].Url == hook.Url, err)
	unhooked, err := client.RemoveWebhookWithResponse(ctx, hookId, nil)
	expect(err == nil && unhooked.StatusCode() == 204, err)
	noHook, err := client.GetWebhookWithResponse(ctx, hookId, nil)
	expect(err == nil && noHook.JSON404.Code == pets.WebhookNotFound, err)

	limit, ids, category := int32(1), []int64{1, pet.Id}, int64(math.MaxInt64)
	page, err := client.ListPetsWithResponse(ctx, &pets.ListPetsParams{Limit: &limit})
	expect(err == nil && (*page.JSON200)[0].Id == pet.Id, err)
	page, err = client.ListPetsWithResponse(ctx, &pets.ListPetsParams{Ids: &ids})
	expect(err == nil && len(*page.JSON200) == 2 && (*page.JSON200)[0].Id == pet.Id, err)

	name, only := "zoÉ", pets.StatusFilterAvailable
	page, err = client.ListPetsWithResponse(ctx, &pets.ListPetsParams{Name: &name, Status: &only})
	expect(err == nil && (*page.JSON200)[0].Id == pet.Id, err)

	removal := "removal"
	for range 2 {
		removed, err := client.RemovePetWithResponse(ctx, pet.Id, &pets.RemovePetParams{IdempotencyKey: &removal})
		expect(err == nil && removed.StatusCode() == 204, err)
	}
	page, err = client.ListPetsWithResponse(ctx, &pets.ListPetsParams{CategoryId: &category})
	expect(err == nil && page.HTTPResponse.Header.Get("X-Total-Count") == "0", err)

	isRemoved := true
	page, err = client.ListPetsWithResponse(ctx, &pets.ListPetsParams{Removed: &isRemoved})
	expect(err == nil && (*page.JSON200)[0].Id == pet.Id && (*page.JSON200)[0].RemovedAt != nil, err)
	before := *(*page.JSON200)[0].Etag
	restored, err := client.RestorePetWithResponse(ctx, pet.Id, &pets.RestorePetParams{IfMatch: &before})
	expect(err == nil && restored.JSON200.Id == pet.Id && restored.JSON200.RemovedAt == nil, err)
	twice, err := client.RestorePetWithResponse(ctx, pet.Id, nil)
	expect(err == nil && twice.JSON409.Code == pets.PetNotRemoved, err)
}

func expect(isTrue bool, found any) {
	if !isTrue {
		panic(fmt.Sprint(found))
	}
}
