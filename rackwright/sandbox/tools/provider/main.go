// Command pulumi-resource-kubernetes serves Pulumi's Kubernetes provider from its published module.
//
// The module lacks the files that its own main package embeds. Only code generators read the whole schema; the engine
// reads just its name and version, so that is all that is told here.
package main

import (
	"fmt"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

// version is the release whose code the pinned commit holds.
const version = "4.25.0"

func main() {
	schema := fmt.Sprintf(`{"name": "kubernetes", "version": %q}`, version)
	provider.Serve("kubernetes", version, []byte(schema), []byte("{}"))
}
