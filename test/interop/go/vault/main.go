// Vault's plugin for OIDC sign-in (github.com/hashicorp/vault-plugin-auth-jwt), called as Vault's core calls it, with its storage
// in memory: configuration, a role, the address that the UI opens, the callback.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"
	jwtauth "github.com/hashicorp/vault-plugin-auth-jwt"
	"github.com/hashicorp/vault/sdk/logical"
)

var (
	ctx     = context.Background()
	answers = bufio.NewReader(os.Stdin)
	storage = &logical.InmemStorage{}
)

const uiCallback = "http://127.0.0.1:8200/ui/vault/auth/oidc/oidc/callback"

func main() {
	backend, err := jwtauth.Factory(ctx, &logical.BackendConfig{
		Logger: hclog.New(&hclog.LoggerOptions{Output: os.Stderr}),
		System: &logical.StaticSystemView{DefaultLeaseTTLVal: time.Hour, MaxLeaseTTLVal: 24 * time.Hour},

		StorageView: storage,
	})
	must(err)
	call := func(operation logical.Operation, path string, data map[string]any) *logical.Response {
		response, err := backend.HandleRequest(ctx, &logical.Request{
			Operation: operation, Path: path, Storage: storage, Data: data, Connection: &logical.Connection{RemoteAddr: "127.0.0.1"},
		})
		must(err)
		if response != nil && response.IsError() {
			must(response.Error())
		}
		return response
	}
	call(logical.UpdateOperation, "config", map[string]any{
		"oidc_discovery_url": os.Getenv("ISSUER"), "oidc_client_id": os.Getenv("CLIENT_ID"),
		"oidc_client_secret": os.Getenv("CLIENT_SECRET"), "default_role": "reader",
	})
	call(logical.CreateOperation, "role/reader", map[string]any{
		"user_claim": "sub", "allowed_redirect_uris": uiCallback, "oidc_scopes": "profile,email,groups",
		"claim_mappings": map[string]any{"email": "email"}, "token_policies": "reader",
	})
	started := call(logical.UpdateOperation, "oidc/auth_url", map[string]any{"role": "reader", "redirect_uri": uiCallback})
	address, _ := started.Data["auth_url"].(string)
	back := callback("authorize", address)
	signedIn := call(logical.ReadOperation, "oidc/callback", map[string]any{"state": back.Get("state"), "code": back.Get("code")})
	auth := signedIn.Auth
	say(map[string]any{
		"step": "sign-in", "ok": auth != nil && auth.Alias.Name != "" && len(auth.Policies) == 1, "email": auth.Alias.Metadata["email"],
	})
	say(map[string]any{"done": true})
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

func callback(what, address string) url.Values {
	say(map[string]any{what: address})
	line, err := answers.ReadBytes('\n')
	must(err)
	var answer struct{ Callback string }
	must(json.Unmarshal(line, &answer))
	back, err := url.Parse(answer.Callback)
	must(err)
	return back.Query()
}
