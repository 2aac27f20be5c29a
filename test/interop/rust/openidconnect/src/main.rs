// The openidconnect crate, as its documentation writes it: code flow with PKCE and nonce, userinfo, refresh, logout; and a device.
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreDeviceAuthorizationResponse, CoreTokenResponse,
    CoreUserInfoClaims,
};
use openidconnect::{
    reqwest, AccessTokenHash, AuthorizationCode, ClientId, ClientSecret, CsrfToken,
    DeviceAuthorizationUrl, IssuerUrl, LogoutRequest, Nonce, OAuth2TokenResponse, PkceCodeChallenge,
    PostLogoutRedirectUrl, ProviderMetadataWithLogout, RedirectUrl, Scope, TokenResponse,
};
use serde_json::{json, Value};
use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::io::stdin;

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    match env::args().nth(1).as_deref() {
        Some("device") => device()?,
        _ => web()?,
    }
    say(json!({ "done": true }));
    Ok(())
}

fn web() -> Outcome {
    let http = http_client()?;
    let metadata = ProviderMetadataWithLogout::discover(&IssuerUrl::new(env::var("ISSUER")?)?, &http)?;
    let end_session = metadata.additional_metadata().end_session_endpoint.clone().ok_or("no logout")?;
    let client = CoreClient::from_provider_metadata(
        metadata,
        ClientId::new(env::var("CLIENT_ID")?),
        Some(ClientSecret::new(env::var("CLIENT_SECRET")?)),
    )
    .set_redirect_uri(RedirectUrl::new(env::var("REDIRECT_URI")?)?);

    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (address, state, nonce) = client
        .authorize_url(CoreAuthenticationFlow::AuthorizationCode, CsrfToken::new_random, Nonce::new_random)
        .add_scope(Scope::new("email".into()))
        .add_scope(Scope::new("profile".into()))
        .set_pkce_challenge(challenge)
        .url();
    let back = ask("authorize", address.as_str())?;
    let code = AuthorizationCode::new(back.get("code").ok_or("no code")?.clone());
    let tokens: CoreTokenResponse = client.exchange_code(code)?.set_pkce_verifier(verifier).request(&http)?;

    let id_token = tokens.id_token().ok_or("no ID token")?;
    let id_token_verifier = client.id_token_verifier();
    let claims = id_token.claims(&id_token_verifier, &nonce)?;
    let hash = AccessTokenHash::from_token(
        tokens.access_token(),
        id_token.signing_alg()?,
        id_token.signing_key(&id_token_verifier)?,
    )?;
    let is_mine = back.get("state") == Some(state.secret()) && claims.access_token_hash() == Some(&hash);
    step("sign-in", is_mine);

    let info: CoreUserInfoClaims = client
        .user_info(tokens.access_token().clone(), Some(claims.subject().clone()))?
        .request(&http)?;
    step("userinfo", info.email().is_some() && info.email_verified() == Some(true));

    let refresh_token = tokens.refresh_token().ok_or("no refresh token")?;
    let renewed: CoreTokenResponse = client.exchange_refresh_token(refresh_token)?.request(&http)?;
    let fresh = renewed.id_token().ok_or("no new ID token")?;
    // Only a first ID token needs a nonce (OpenID Connect Core 1.0 §12.2).
    fresh.claims(&id_token_verifier, |_: Option<&Nonce>| Ok(()))?;
    step("refresh", renewed.access_token().secret() != tokens.access_token().secret());

    let logout = LogoutRequest::from(end_session)
        .set_id_token_hint(id_token)
        .set_post_logout_redirect_uri(PostLogoutRedirectUrl::new(env::var("POST_LOGOUT_REDIRECT_URI")?)?)
        .set_state(CsrfToken::new("bye".into()))
        .http_get_url();
    step("logout", ask("logout", logout.as_str())?.get("state").map(String::as_str) == Some("bye"));
    Ok(())
}

fn device() -> Outcome {
    let http = http_client()?;
    let metadata = ProviderMetadataWithLogout::discover(&IssuerUrl::new(env::var("ISSUER")?)?, &http)?;
    let endpoint = DeviceAuthorizationUrl::new(format!("{}/device_authorization", env::var("ISSUER")?))?;
    let client = CoreClient::from_provider_metadata(metadata, ClientId::new(env::var("CLIENT_ID")?), None)
        .set_device_authorization_url(endpoint);
    let details: CoreDeviceAuthorizationResponse = client
        .exchange_device_code()
        .add_scope(Scope::new("profile".into()))
        .request(&http)?;
    ask("device", details.verification_uri_complete().ok_or("no complete address")?.secret())?;
    let tokens: CoreTokenResponse = client
        .exchange_device_access_token(&details)?
        .request(&http, std::thread::sleep, None)?;
    step("sign-in", tokens.id_token().is_some());
    let refresh_token = tokens.refresh_token().ok_or("no refresh token")?;
    let renewed: CoreTokenResponse = client.exchange_refresh_token(refresh_token)?.request(&http)?;
    step("refresh", renewed.access_token().secret() != tokens.access_token().secret());
    Ok(())
}

fn http_client() -> Result<reqwest::blocking::Client, reqwest::Error> {
    reqwest::blocking::ClientBuilder::new()
        .redirect(reqwest::redirect::Policy::none())
        .build()
}

fn say(message: Value) {
    println!("{message}");
}

fn step(name: &str, is_right: bool) {
    say(json!({ "step": name, "ok": is_right }));
}

/// The query of the callback; empty where the answer has none.
fn ask(what: &str, address: &str) -> Result<HashMap<String, String>, Box<dyn Error>> {
    say(json!({ what: address }));
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    let answer: Value = serde_json::from_str(&line)?;
    let Some(callback) = answer["callback"].as_str() else {
        return Ok(HashMap::new());
    };
    Ok(openidconnect::url::Url::parse(callback)?.query_pairs().into_owned().collect())
}
