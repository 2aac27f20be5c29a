// An API as the guide of SmallRye JWT writes it.
package latchkey;

import jakarta.annotation.security.PermitAll;
import jakarta.annotation.security.RolesAllowed;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import org.eclipse.microprofile.jwt.JsonWebToken;

@Path("/")
public class MicroProfileApi {
  @Inject JsonWebToken token;

  @GET
  @Path("staff")
  @RolesAllowed("staff")
  public String staff() {
    return "hello " + token.getName();
  }

  @GET
  @Path("user")
  @RolesAllowed("user")
  public String user() {
    return "hello " + token.getName();
  }

  @GET
  @Path("open")
  @PermitAll
  public String open() {
    return "open";
  }
}
