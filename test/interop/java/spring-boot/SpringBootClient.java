// A web application and an API as the starters make them: what Boot configures by itself, with sign-out at the provider and
// back-channel logout, as the reference of Spring Security shows them.
package latchkey;

import static org.springframework.security.config.Customizer.withDefaults;

import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.annotation.RegisteredOAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class SpringBootClient {
  public static void main(String[] args) {
    SpringApplication.run(SpringBootClient.class, args);
  }

  /** Boot's own decoder. */
  @Bean
  @Order(0)
  SecurityFilterChain apiAtDefaults(HttpSecurity http) throws Exception {
    return http.securityMatcher("/api/defaults/**")
        .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .oauth2ResourceServer(server -> server.jwt(withDefaults()))
        .build();
  }

  /** The decoder that docs/applications.md shows. */
  @Bean
  @Order(1)
  SecurityFilterChain api(
      HttpSecurity http,
      @Value("${spring.security.oauth2.resourceserver.jwt.issuer-uri}") String issuer,
      @Value("${spring.security.oauth2.client.registration.latchkey.client-id}") String clientId)
      throws Exception {
    var decoder = NimbusJwtDecoder.withIssuerLocation(issuer).validateType(false).build();
    decoder.setJwtValidator(
        JwtValidators.createAtJwtValidator().issuer(issuer).audience(issuer).clientId(clientId).build());
    return http.securityMatcher("/api/**")
        .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .oauth2ResourceServer(server -> server.jwt(jwt -> jwt.decoder(decoder)))
        .build();
  }

  @Bean
  @Order(2)
  SecurityFilterChain pages(HttpSecurity http, ClientRegistrationRepository clients) throws Exception {
    var atProvider = new OidcClientInitiatedLogoutSuccessHandler(clients);
    atProvider.setPostLogoutRedirectUri("{baseUrl}/bye");
    return http.authorizeHttpRequests(requests -> requests.requestMatchers("/bye").permitAll().anyRequest().authenticated())
        .oauth2Login(withDefaults())
        .oauth2Client(withDefaults())
        .logout(logout -> logout.logoutSuccessHandler(atProvider))
        .oidcLogout(logout -> logout.backChannel(withDefaults()))
        .build();
  }

  /** The token is refreshed first where less than a minute of it is left. */
  @GetMapping("/me")
  Map<String, Object> me(
      @AuthenticationPrincipal OidcUser user,
      @RegisteredOAuth2AuthorizedClient("latchkey") OAuth2AuthorizedClient client) {
    return Map.of(
        "sub", user.getSubject(),
        "userinfo", user.getUserInfo().getClaims(),
        "access_token", client.getAccessToken().getTokenValue());
  }

  @GetMapping("/session")
  Map<String, Object> session(@AuthenticationPrincipal OidcUser user) {
    return Map.of("sid", user.getIdToken().getClaimAsString("sid"));
  }

  @GetMapping("/bye")
  String bye() {
    return "bye";
  }

  @GetMapping({"/api/whoami", "/api/defaults/whoami"})
  Map<String, Object> whoami(@AuthenticationPrincipal Jwt token) {
    return Map.of("sub", token.getSubject());
  }
}
