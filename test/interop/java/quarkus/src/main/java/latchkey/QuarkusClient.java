// A web application with Quarkus' extension, as its guide writes it.
package latchkey;

import io.quarkus.oidc.AccessTokenCredential;
import io.quarkus.oidc.IdToken;
import io.quarkus.oidc.UserInfo;
import io.quarkus.security.Authenticated;
import jakarta.annotation.security.PermitAll;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.util.Map;
import org.eclipse.microprofile.jwt.JsonWebToken;

@Path("/")
public class QuarkusClient {
  @Inject @IdToken JsonWebToken idToken;
  @Inject JsonWebToken accessToken;
  @Inject AccessTokenCredential credential;
  @Inject UserInfo userInfo;

  /** Quarkus verifies the access token, since it is injected as a JWT. */
  @GET
  @Path("me")
  @Authenticated
  public Map<String, Object> me() {
    return Map.of(
        "sub", accessToken.getSubject(),
        "name", idToken.getName(),
        "email", userInfo.getString("email"),
        "access_token", credential.getToken());
  }

  @GET
  @Path("bye")
  @PermitAll
  public String bye() {
    return "bye";
  }
}
