// Calls the three operations and reads all pages with the Go client of openapi-generator, unchanged.
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"regexp"

	pets "animal-store.example/contract/openapi_generator/generated"
)

var nextCursor = regexp.MustCompile(`^<https?://.+[?&]cursor=(\d+)>; rel="next"$`)

func main() {
	baseUrl, token := os.Args[1], os.Args[2]
	configuration := pets.NewConfiguration()
	configuration.Servers = pets.ServerConfigurations{{URL: baseUrl}}
	client := pets.NewAPIClient(configuration).PetsAPI
	ctx := context.WithValue(context.Background(), pets.ContextAccessToken, token)

	input := pets.NewPetInput("Zoé", math.MaxInt64)
	input.SetStatus(pets.SOLD)
	add := func() *pets.Pet {
		pet, _, err := client.CreatePet(ctx).PetInput(*input).IdempotencyKey("openapi-generator").Execute()
		expect(err == nil && pet.CategoryId == math.MaxInt64, err)
		return pet
	}
	pet := add()
	expect(add().Id == pet.Id, pet.Id)

	got, _, err := client.GetPet(ctx, pet.Id).Execute()
	expect(err == nil && got.Name == "Zoé" && got.GetStatus() == pets.SOLD, err)
	_, response, err := client.GetPet(ctx, 1e15).Execute()
	expect(err != nil && response.StatusCode == 404, err)
	failure := err.(*pets.GenericOpenAPIError).Model().(pets.Error)
	expect(failure.Code == "pet_not_found", failure)

	request := client.ListPets(ctx).Limit(100)
	for id := pet.Id; ; {
		page, response, err := request.Execute()
		expect(err == nil, err)
		for _, listed := range page {
			expect(listed.Id == id, listed.Id)
			id--
		}
		match := nextCursor.FindStringSubmatch(response.Header.Get("Link"))
		if match == nil {
			expect(id == 0, id)
			break
		}
		request = request.Cursor(match[1])
	}
}

func expect(isTrue bool, found any) {
	if !isTrue {
		panic(fmt.Sprint(found))
	}
}
