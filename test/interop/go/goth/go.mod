module latchkey.example/interop/goth

go 1.25

require github.com/markbates/goth v1.82.0

require golang.org/x/oauth2 v0.27.0 // indirect
