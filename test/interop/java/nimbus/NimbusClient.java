// A web application and a device, as the SDK's guides write them, with its default HTTP client: java.net.HttpURLConnection,
// whose Accept header begins with text/html.
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.AuthorizationGrant;
import com.nimbusds.oauth2.sdk.RefreshTokenGrant;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.TokenRevocationRequest;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.device.DeviceAuthorizationRequest;
import com.nimbusds.oauth2.sdk.device.DeviceAuthorizationResponse;
import com.nimbusds.oauth2.sdk.device.DeviceCodeGrant;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.oauth2.sdk.token.AccessToken;
import com.nimbusds.oauth2.sdk.token.RefreshToken;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.AuthenticationResponseParser;
import com.nimbusds.openid.connect.sdk.LogoutRequest;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.UserInfoRequest;
import com.nimbusds.openid.connect.sdk.UserInfoResponse;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.util.Map;

public class NimbusClient {
  static final BufferedReader ANSWERS = new BufferedReader(new InputStreamReader(System.in));
  static final Scope NONE = null;
  static ClientID clientId = new ClientID(System.getenv("CLIENT_ID"));
  static OIDCProviderMetadata provider;

  public static void main(String[] args) throws Exception {
    provider = OIDCProviderMetadata.resolve(new Issuer(System.getenv("ISSUER")));
    if (args[0].equals("device")) device();
    else web();
    say(Map.of("done", true));
  }

  static void web() throws Exception {
    var secret = new ClientSecretBasic(clientId, new Secret(System.getenv("CLIENT_SECRET")));
    var callback = URI.create(System.getenv("REDIRECT_URI"));
    var state = new State();
    var nonce = new Nonce();
    var verifier = new CodeVerifier();
    var request = new AuthenticationRequest.Builder(ResponseType.CODE, new Scope("openid", "profile", "email"), clientId, callback)
        .endpointURI(provider.getAuthorizationEndpointURI()).state(state).nonce(nonce)
        .codeChallenge(verifier, CodeChallengeMethod.S256).build();
    var response = AuthenticationResponseParser.parse(URI.create(ask("authorize", request.toURI()))).toSuccessResponse();
    var isMine = state.equals(response.getState()) && provider.getIssuer().equals(response.getIssuer());

    var code = new AuthorizationCodeGrant(response.getAuthorizationCode(), callback, verifier);
    var tokens = tokens(new TokenRequest(provider.getTokenEndpointURI(), secret, code, NONE)).getOIDCTokens();
    var claims = new IDTokenValidator(provider.getIssuer(), clientId, JWSAlgorithm.RS256, provider.getJWKSetURI().toURL())
        .validate(tokens.getIDToken(), nonce);
    step("sign-in", isMine && claims.getSubject() != null);
    step("userinfo", userInfo(tokens.getAccessToken()).toSuccessResponse().getUserInfo().getEmailAddress() != null);

    var refresh = new RefreshTokenGrant(tokens.getRefreshToken());
    var renewed = tokens(new TokenRequest(provider.getTokenEndpointURI(), secret, refresh, NONE)).getOIDCTokens();
    step("refresh", !renewed.getAccessToken().equals(tokens.getAccessToken()));

    var wrong = new RefreshTokenGrant(new RefreshToken("nonsense"));
    step("invalid_grant", "invalid_grant".equals(errorOf(new TokenRequest(provider.getTokenEndpointURI(), secret, wrong, NONE))));

    var revocation = new TokenRevocationRequest(provider.getRevocationEndpointURI(), secret, renewed.getAccessToken());
    step("revoke", revocation.toHTTPRequest().send().getStatusCode() == 200);
    var refused = userInfo(renewed.getAccessToken()).toErrorResponse().getErrorObject();
    step("invalid_token", "invalid_token".equals(refused.getCode()));

    var bye = URI.create(System.getenv("POST_LOGOUT_REDIRECT_URI"));
    var logout = new LogoutRequest(provider.getEndSessionEndpointURI(), tokens.getIDToken(), bye, state);
    step("logout", ask("logout", logout.toURI()).equals(bye + "?state=" + state));
  }

  static void device() throws Exception {
    var request = new DeviceAuthorizationRequest.Builder(clientId)
        .endpointURI(provider.getDeviceAuthorizationEndpointURI()).scope(new Scope("openid", "profile")).build();
    var device = DeviceAuthorizationResponse.parse(request.toHTTPRequest().send()).toSuccessResponse();
    AuthorizationGrant grant = new DeviceCodeGrant(device.getDeviceCode());
    var poll = new TokenRequest(provider.getTokenEndpointURI(), clientId, grant, NONE);
    step("pending", "authorization_pending".equals(errorOf(poll)));
    ask("device", device.getVerificationURIComplete());
    Thread.sleep(device.getInterval() * 1000);
    var tokens = tokens(poll).getOIDCTokens();
    step("sign-in", tokens.getIDToken() != null);
    var refresh = new TokenRequest(provider.getTokenEndpointURI(), clientId, new RefreshTokenGrant(tokens.getRefreshToken()), NONE);
    step("refresh", tokens(refresh).getOIDCTokens().getAccessToken() != null);
    step("invalid_grant", "invalid_grant".equals(errorOf(poll)));
  }

  static OIDCTokenResponse tokens(TokenRequest request) throws Exception {
    var response = OIDCTokenResponseParser.parse(request.toHTTPRequest().send());
    if (!response.indicatesSuccess()) throw new IllegalStateException(response.toErrorResponse().toJSONObject().toString());
    return (OIDCTokenResponse) response.toSuccessResponse();
  }

  static String errorOf(TokenRequest request) throws Exception {
    return TokenResponse.parse(request.toHTTPRequest().send()).toErrorResponse().getErrorObject().getCode();
  }

  static UserInfoResponse userInfo(AccessToken token) throws Exception {
    return UserInfoResponse.parse(new UserInfoRequest(provider.getUserInfoEndpointURI(), token).toHTTPRequest().send());
  }

  static void say(Map<String, Object> message) {
    System.out.println(JSONObjectUtils.toJSONString(message));
  }

  static void step(String name, boolean isRight) {
    say(Map.of("step", name, "ok", isRight));
  }

  static String ask(String name, URI address) throws Exception {
    say(Map.of(name, address.toString()));
    return String.valueOf(JSONObjectUtils.parse(ANSWERS.readLine()).get("callback"));
  }
}
