// pac4j's client as its frameworks' filters call it, with nothing set but where the provider is and who the client is.
import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.pac4j.core.context.CallContext;
import org.pac4j.core.exception.http.WithLocationAction;
import org.pac4j.oidc.client.OidcClient;
import org.pac4j.oidc.config.OidcConfiguration;
import org.pac4j.oidc.profile.OidcProfile;
import org.pac4j.test.context.MockWebContext;
import org.pac4j.test.context.session.MockSessionStore;

public class Pac4jClient {
  static final BufferedReader ANSWERS = new BufferedReader(new InputStreamReader(System.in));

  public static void main(String[] args) throws Exception {
    var config = new OidcConfiguration();
    config.setClientId(System.getenv("CLIENT_ID"));
    config.setSecret(System.getenv("CLIENT_SECRET"));
    config.setDiscoveryURI(System.getenv("ISSUER") + "/.well-known/openid-configuration");
    if (args.length > 0) config.setScope(args[0]);
    var client = new OidcClient(config);
    client.setCallbackUrl(System.getenv("REDIRECT_URI"));
    client.init();

    var session = new MockSessionStore();
    var asked = client.getRedirectionAction(new CallContext(MockWebContext.create(), session)).orElseThrow();
    var back = ask("authorize", ((WithLocationAction) asked).getLocation());
    var request = MockWebContext.create();
    for (var pair : URI.create(back).getRawQuery().split("&")) {
      var parts = pair.split("=", 2);
      request.addRequestParameter(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    var call = new CallContext(request, session);
    var code = client.getCredentials(call).orElseThrow();
    var credentials = client.validateCredentials(call, code).orElseThrow();
    var profile = (OidcProfile) client.getUserProfile(call, credentials).orElseThrow();
    step("sign-in", profile.getId() != null);
    step("userinfo", profile.getEmail() != null);

    var renewed = (OidcProfile) client.renewUserProfile(call, profile).orElseThrow();
    var isNew = !renewed.getAccessToken().getValue().equals(profile.getAccessToken().getValue());
    step("refresh", isNew && renewed.getId().equals(profile.getId()));

    var bye = System.getenv("POST_LOGOUT_REDIRECT_URI");
    var logout = client.getLogoutAction(call, renewed, bye).orElseThrow();
    step("logout", ask("logout", ((WithLocationAction) logout).getLocation()).equals(bye));
    say(Map.of("done", true));
  }

  static void say(Map<String, Object> message) {
    System.out.println(JSONObjectUtils.toJSONString(message));
  }

  static void step(String name, boolean isRight) {
    say(Map.of("step", name, "ok", isRight));
  }

  static String ask(String name, String address) throws Exception {
    say(Map.of(name, address));
    return String.valueOf(JSONObjectUtils.parse(ANSWERS.readLine()).get("callback"));
  }
}
