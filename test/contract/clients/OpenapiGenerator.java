import java.net.http.HttpClient;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.PetsApi;
import org.openapitools.client.model.Pet;
import org.openapitools.client.model.PetEvent;
import org.openapitools.client.model.PetInput;
import org.openapitools.client.model.PetPatch;
import org.openapitools.client.model.PetStatus;

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

    var events = new EventsApi(client).listEvents(null, 1000, 0, null, PetStatus.SOLD, null);
    PetEvent event = events.get(events.size() - 1);
    expect(event.getData().getPrevious().getStatus() == PetStatus.SOLD, event);

    expect(pets.listPets(1, null, null, null).get(0).getId().equals(pet.getId()), pet);
  }

  private static void expect(boolean isTrue, Object found) {
    if (!isTrue) throw new AssertionError(found);
  }
}
