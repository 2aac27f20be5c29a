// The core that Keycloak's Java adapters (servlet filter, WildFly, Spring) share, called as they call it.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.keycloak.adapters.KeycloakDeploymentBuilder;
import org.keycloak.adapters.ServerRequest;
import org.keycloak.adapters.rotation.AdapterTokenVerifier;

public class KeycloakAdapter {
  static final ObjectMapper JSON = new ObjectMapper();
  static final BufferedReader ANSWERS = new BufferedReader(new InputStreamReader(System.in));

  public static void main(String[] args) throws Exception {
    var redirectUri = System.getenv("REDIRECT_URI");
    // The file keycloak.json that an application has.
    var config =
        Map.of(
            "realm", "main",
            "auth-server-url", System.getenv("BASE_URL"),
            "ssl-required", "external",
            "resource", System.getenv("CLIENT_ID"),
            "credentials", Map.of("secret", System.getenv("CLIENT_SECRET")));
    var deployment = KeycloakDeploymentBuilder.build(new ByteArrayInputStream(JSON.writeValueAsBytes(config)));

    var asked =
        deployment
            .getAuthUrl()
            .clone()
            .queryParam("response_type", "code")
            .queryParam("client_id", deployment.getResourceName())
            .queryParam("redirect_uri", redirectUri)
            .queryParam("state", "st")
            .queryParam("login", "true")
            .queryParam("scope", "openid profile email roles")
            .build();
    var back = ask("authorize", asked.toString());
    var tokens = ServerRequest.invokeAccessCodeToToken(deployment, codeIn(back), redirectUri, "session");
    var verified = AdapterTokenVerifier.verifyTokens(tokens.getToken(), tokens.getIdToken(), deployment);
    step("sign-in", "grace".equals(verified.getAccessToken().getPreferredUsername()));
    step("userinfo", "grace@example.com".equals(verified.getIdToken().getEmail()));
    step("roles", verified.getAccessToken().getRealmAccess().isUserInRole("user"));

    var renewed = ServerRequest.invokeRefresh(deployment, tokens.getRefreshToken());
    var token = AdapterTokenVerifier.verifyToken(renewed.getToken(), deployment);
    step("refresh", token.getSubject().equals(verified.getAccessToken().getSubject()));

    ServerRequest.invokeLogout(deployment, renewed.getRefreshToken());
    var isOver = false;
    try {
      ServerRequest.invokeRefresh(deployment, renewed.getRefreshToken());
    } catch (ServerRequest.HttpFailure failure) {
      isOver = failure.getStatus() == 400 && failure.getError().contains("invalid_grant");
    }
    step("logout", isOver);
    say(Map.of("done", true));
    System.exit(0);
  }

  static String codeIn(String back) {
    for (var pair : URI.create(back).getRawQuery().split("&"))
      if (pair.startsWith("code=")) return URLDecoder.decode(pair.substring(5), StandardCharsets.UTF_8);
    throw new IllegalStateException(back);
  }

  static void say(Map<String, ?> message) throws Exception {
    System.out.println(JSON.writeValueAsString(message));
  }

  static void step(String name, boolean isRight) throws Exception {
    say(Map.of("step", name, "ok", isRight));
  }

  static String ask(String name, String address) throws Exception {
    say(Map.of(name, address));
    return JSON.readTree(ANSWERS.readLine()).get("callback").asText();
  }
}
