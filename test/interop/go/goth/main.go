// github.com/markbates/goth's openidConnect provider, as Gitea and Forgejo use it: by the discovery address, with the scopes of
// their setting, none by default. It sends neither a nonce nor PKCE.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/markbates/goth/providers/openidConnect"
)

var answers = bufio.NewReader(os.Stdin)

func main() {
	provider, err := openidConnect.New(
		os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"), os.Getenv("REDIRECT_URI"),
		os.Getenv("ISSUER")+"/.well-known/openid-configuration", strings.Fields(os.Getenv("SCOPES"))...)
	must(err)
	session, err := provider.BeginAuth("the-state")
	must(err)
	address, err := session.GetAuthURL()
	must(err)
	// Between the two requests the session is a text in a cookie.
	session, err = provider.UnmarshalSession(session.Marshal())
	must(err)
	_, err = session.Authorize(provider, callback("authorize", address))
	must(err)
	user, err := provider.FetchUser(session)
	must(err)
	say(map[string]any{"step": "sign-in", "ok": user.UserID != "", "email": user.Email, "nick": user.NickName})

	tokens, err := provider.RefreshToken(user.RefreshToken)
	must(err)
	say(map[string]any{"step": "refresh", "ok": tokens.AccessToken != user.AccessToken})
	again, err := provider.RefreshTokenWithIDToken(tokens.RefreshToken)
	must(err)
	say(map[string]any{"step": "refresh-with-id-token", "ok": again.IdToken != ""})

	bye := url.Values{"id_token_hint": {user.IDToken}, "post_logout_redirect_uri": {os.Getenv("POST_LOGOUT_REDIRECT_URI")}}
	callback("logout", provider.OpenIDConfig.EndSessionEndpoint+"?"+bye.Encode())
	say(map[string]any{"step": "logout", "ok": true})
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
