import java.net.http.HttpClient;
import java.time.OffsetDateTime;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.CategoriesApi;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.KeyApi;
import org.openapitools.client.api.PetsApi;
import org.openapitools.client.model.Category;
import org.openapitools.client.model.CategoryInput;
import org.openapitools.client.model.Pet;
import org.openapitools.client.model.PetEvent;
import org.openapitools.client.model.PetInput;
import org.openapitools.client.model.PetPatch;
import org.openapitools.client.model.PetStatus;
import org.openapitools.client.model.StatusFilter;

/** Calls the operations with the Java client of openapi-generator, unchanged. */
public class OpenapiGenerator {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    // By default, it asks to upgrade to HTTP/2 over clear text. Deno refuses that for a request with a body.
    client.setHttpClientBuilder(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1));
    client.updateBaseUri(args[0]);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + args[1]));
    PetsApi pets = new PetsApi(client);

    PetInput input = new PetInput().name("Zoé").categoryId(Long.MAX_VALUE).status(PetStatus.SOLD);
    Pet pet = pets.createPet(input, "java");
    expect(pet.getCategoryId() == Long.MAX_VALUE, pet);
    expect(pets.createPet(input, "java").equals(pet), pet);

    expect(pets.getPet(pet.getId(), null).equals(pet), pet);
    try {
      pets.getPet(1_000_000_000_000_000L, null);
      throw new AssertionError("The animal does not exist");
    } catch (ApiException error) {
      expect(error.getCode() == 404 && error.getResponseBody().contains("pet_not_found"), error);
    }

    PetPatch patch = new PetPatch().name("Mia").status(PetStatus.AVAILABLE);
    Pet changed = pets.updatePet(pet.getId(), patch, "*", null);
    expect(changed.equals(pet.name("Mia").status(PetStatus.AVAILABLE)), changed);

    var events = new EventsApi(client)
        .listEvents(null, OffsetDateTime.parse("2026-01-01T00:00Z"), 1000, 0, null, PetStatus.SOLD, null);
    PetEvent event = (PetEvent) events.get(events.size() - 1).getActualInstance();
    expect(event.getData().getPrevious().getStatus() == PetStatus.SOLD, event);

    var last = new EventsApi(client).listPetEvents(pet.getId(), 1, null, null).get(0);
    expect(last.getActor().equals(new KeyApi(client).getKey(null).getId()), last);

    CategoriesApi categories = new CategoriesApi(client);
    CategoryInput dogs = new CategoryInput().name("Dogs");
    Category named = categories.nameCategory(Long.MIN_VALUE, dogs, null, "name");
    expect(named.getId() == Long.MIN_VALUE && named.getName().equals("Dogs"), named);
    expect(categories.listCategories(null).get(0).equals(named), named);
    expect(categories.getCategory(Long.MIN_VALUE, null).equals(named), named);
    categories.removeCategory(Long.MIN_VALUE, "*", null);

    expect(pets.listPets(1, null, Long.MAX_VALUE, null, null, null, null, null).get(0).equals(pet), pet);
    expect(pets.listPets(1, StatusFilter.AVAILABLE, null, null, null, "MIA", null, null).get(0).equals(pet), pet);
    var ids = List.of(1L, pet.getId());
    expect(pets.listPets(null, null, null, null, ids, null, null, null).get(0).equals(pet), pet);
    pets.removePet(pet.getId(), "*", "removal");
    pets.removePet(pet.getId(), "*", "removal");
    expect(pets.listPets(null, null, null, null, ids, null, null, null).size() == 1, pet);
  }

  private static void expect(boolean isTrue, Object found) {
    if (!isTrue) throw new AssertionError(found);
  }
}
