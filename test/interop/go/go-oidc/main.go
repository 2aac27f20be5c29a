// github.com/coreos/go-oidc with golang.org/x/oauth2, as their documentation writes it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

var (
	ctx     = context.Background()
	answers = bufio.NewReader(os.Stdin)
)

// What of the discovery document the library has no name for.
type endpoints struct {
	Revocation string `json:"revocation_endpoint"`
	EndSession string `json:"end_session_endpoint"`
}

func main() {
	provider, err := oidc.NewProvider(ctx, os.Getenv("ISSUER"))
	must(err)
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		RedirectURL:  os.Getenv("REDIRECT_URI"),
		Endpoint:     provider.Endpoint(),
	}
	switch os.Args[1] {
	case "web":
		web(provider, config)
	case "bare":
		bare(config)
	case "backend-logout":
		backendLogout(provider, config)
	case "device":
		device(provider, config)
	case "machine":
		machine(config)
	}
	say(map[string]any{"done": true})
}

// The library's example: state and nonce, no PKCE.
func web(provider *oidc.Provider, config oauth2.Config) {
	config.Scopes = []string{oidc.ScopeOpenID, "profile", "email", oidc.ScopeOfflineAccess}
	back := ask("authorize", config.AuthCodeURL("the-state", oidc.Nonce("the-nonce")))
	tokens, err := config.Exchange(ctx, back.Get("code"))
	must(err)
	raw, _ := tokens.Extra("id_token").(string)
	verifier := provider.Verifier(&oidc.Config{ClientID: config.ClientID})
	idToken, err := verifier.Verify(ctx, raw)
	must(err)
	must(idToken.VerifyAccessToken(tokens.AccessToken))
	step("sign-in", back.Get("state") == "the-state" && idToken.Nonce == "the-nonce", nil)

	_, err = verifier.Verify(ctx, tokens.AccessToken)
	step("access-token-is-no-id-token", err != nil, nil)

	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	must(err)
	step("userinfo", info.Subject == idToken.Subject && info.EmailVerified, nil)

	renewed, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: tokens.RefreshToken}).Token()
	must(err)
	fresh, _ := renewed.Extra("id_token").(string)
	again, err := verifier.Verify(ctx, fresh)
	must(err)
	step("refresh", renewed.AccessToken != tokens.AccessToken && again.Subject == idToken.Subject, nil)

	var more endpoints
	must(provider.Claims(&more))
	form := url.Values{"token": {renewed.RefreshToken}, "client_id": {config.ClientID}, "client_secret": {config.ClientSecret}}
	answer, err := http.PostForm(more.Revocation, form)
	must(err)
	_, err = config.TokenSource(ctx, &oauth2.Token{RefreshToken: renewed.RefreshToken}).Token()
	step("revoke", answer.StatusCode == 200 && isError(err, "invalid_grant"), nil)

	bye := url.Values{"id_token_hint": {raw}, "post_logout_redirect_uri": {os.Getenv("POST_LOGOUT_REDIRECT_URI")}, "state": {"bye"}}
	step("logout", ask("logout", more.EndSession+"?"+bye.Encode()).Get("state") == "bye", nil)
}

// What oauth2-proxy does at its sign-out where it has a backend_logout_url: a GET of the server's, with the hint and no cookie.
func backendLogout(provider *oidc.Provider, config oauth2.Config) {
	config.Scopes = []string{oidc.ScopeOpenID, "profile", "email"}
	back := ask("authorize", config.AuthCodeURL("s"))
	tokens, err := config.Exchange(ctx, back.Get("code"))
	must(err)
	raw, _ := tokens.Extra("id_token").(string)
	var more endpoints
	must(provider.Claims(&more))
	answer, err := http.Get(more.EndSession + "?id_token_hint=" + raw)
	must(err)
	_, err = provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	step("logout", answer.StatusCode == 200 && err != nil, nil)
	_, err = config.TokenSource(ctx, &oauth2.Token{RefreshToken: tokens.RefreshToken}).Token()
	step("refresh-refused", isError(err, "invalid_grant"), nil)
}

// OAuth alone: an oauth2.Config without Scopes sends no scope at all.
func bare(config oauth2.Config) {
	verifier := oauth2.GenerateVerifier()
	back := ask("authorize", config.AuthCodeURL("s", oauth2.AccessTypeOffline, oauth2.S256ChallengeOption(verifier)))
	tokens, err := config.Exchange(ctx, back.Get("code"), oauth2.VerifierOption(verifier))
	must(err)
	step("sign-in", tokens.Valid(), map[string]any{"scope": tokens.Extra("scope")})
	renewed, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: tokens.RefreshToken}).Token()
	must(err)
	step("refresh", renewed.AccessToken != tokens.AccessToken, nil)
	_, err = config.Exchange(ctx, "nonsense")
	step("invalid_grant", isError(err, "invalid_grant"), nil)
}

func device(provider *oidc.Provider, config oauth2.Config) {
	config.Scopes = []string{oidc.ScopeOpenID, "profile"}
	started, err := config.DeviceAuth(ctx)
	must(err)
	ask("device", started.VerificationURIComplete)
	tokens, err := config.DeviceAccessToken(ctx, started)
	must(err)
	raw, _ := tokens.Extra("id_token").(string)
	_, err = provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(ctx, raw)
	must(err)
	step("sign-in", true, nil)
	renewed, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: tokens.RefreshToken}).Token()
	must(err)
	step("refresh", renewed.AccessToken != tokens.AccessToken, nil)
}

func machine(config oauth2.Config) {
	source := clientcredentials.Config{
		ClientID: config.ClientID, ClientSecret: config.ClientSecret, TokenURL: config.Endpoint.TokenURL,
	}
	tokens, err := source.Token(ctx)
	must(err)
	step("token", tokens.Valid() && strings.EqualFold(tokens.TokenType, "bearer"), map[string]any{"scope": tokens.Extra("scope")})
	source.Scopes = []string{"nonsense"}
	_, err = source.Token(ctx)
	step("invalid_scope", isError(err, "invalid_scope"), nil)
}

func isError(err error, code string) bool {
	refused, ok := err.(*oauth2.RetrieveError)
	return ok && refused.ErrorCode == code
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func say(message map[string]any) {
	line, err := json.Marshal(message)
	must(err)
	fmt.Println(string(line))
}

func step(name string, isRight bool, facts map[string]any) {
	message := map[string]any{"step": name, "ok": isRight}
	for fact, value := range facts {
		message[fact] = value
	}
	say(message)
}

// Returns the query of the callback; empty where the answer has none.
func ask(what, address string) url.Values {
	say(map[string]any{what: address})
	line, err := answers.ReadBytes('\n')
	must(err)
	var answer struct{ Callback string }
	must(json.Unmarshal(line, &answer))
	callback, err := url.Parse(answer.Callback)
	must(err)
	return callback.Query()
}
