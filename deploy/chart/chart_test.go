// Package chart checks the chart beside it: with Helm's own engine, with kubeconform, and
// with the server itself, which `make deploy-test` builds.
package chart

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/validator"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

type object = map[string]any

// render is what Helm makes of the chart with a file of values, by the names of the
// templates.
func render(values []byte) (map[string]string, error) {
	chart, err := loader.LoadDir("latchkey")
	if err != nil {
		return nil, err
	}
	given := object{}
	if err := yaml.Unmarshal(values, &given); err != nil {
		return nil, err
	}
	all, err := util.ToRenderValues(chart, given, common.ReleaseOptions{Name: "wallets", Namespace: "finance", Revision: 1, IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(chart, all)
}

func rendered(t *testing.T, values string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/good", values+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := render(text)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// resources are those of all templates, in one text.
func resources(files map[string]string) string {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(files[name]) != "" {
			all.WriteString("---\n" + files[name] + "\n")
		}
	}
	return all.String()
}

// conform has the resources judged by kubeconform, and returns their kinds.
func conform(t *testing.T, text string) (kinds []string, problems []string) {
	t.Helper()
	v, err := validator.New([]string{"schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json"}, validator.Opts{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range v.Validate("chart", io.NopCloser(strings.NewReader(text))) {
		if result.Status == validator.Empty {
			continue
		}
		signature, err := result.Resource.Signature()
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, signature.Kind)
		if result.Status != validator.Valid {
			problems = append(problems, fmt.Sprintf("%s %s: %v", signature.Kind, signature.Name, result.Err))
		}
	}
	slices.Sort(kinds)
	return kinds, problems
}

func TestConforms(t *testing.T) {
	for values, want := range map[string]string{
		"defaults":   "ConfigMap Deployment NetworkPolicy PodDisruptionBudget Service Service ServiceAccount",
		"everything": "ConfigMap Deployment Ingress NetworkPolicy PodDisruptionBudget Service Service ServiceAccount ServiceMonitor",
		"sealed":     "ConfigMap NetworkPolicy PodDisruptionBudget Service Service ServiceAccount StatefulSet",
	} {
		text := resources(rendered(t, values))
		kinds, problems := conform(t, text)
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%s: the chart has %s, not %s", values, got, want)
		}
		for _, problem := range problems {
			t.Errorf("%s: %s", values, problem)
		}
	}
}

// TestConformsNotices: what is wrong in the place of what is right is found.
func TestConformsNotices(t *testing.T) {
	text := resources(rendered(t, "everything"))
	for right, wrong := range map[string]string{
		"readOnlyRootFilesystem:":         "readOnlyRootFileSystem:",
		"replicas: 3":                     "replicas: three",
		"terminationGracePeriodSeconds:":  "terminationGracePeriod:",
		"pathType: Prefix":                "pathtype: Prefix",
		"policyTypes:":                    "policyType:",
		"maxUnavailable: 50%":             "maxUnavailable: [50]",
		"interval: 15s":                   "interval: often",
		"apiVersion: policy/v1\n":         "apiVersion: policy/v1beta1\n",
		"automountServiceAccountToken: f": "mountServiceAccountToken: f",
		"  latchkey.yaml: |":              "  latchkey.yaml:",
	} {
		if !strings.Contains(text, right) {
			t.Errorf("there is no %q", right)
			continue
		}
		if _, problems := conform(t, strings.Replace(text, right, wrong, 1)); len(problems) == 0 {
			t.Errorf("%q instead of %q is not noticed", wrong, right)
		}
	}
}

// TestRefuses: wrong values are refused, and the text says what is wrong.
func TestRefuses(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := bytes.Cut(text, []byte("\n"))
		want, ok := strings.CutPrefix(string(first), "# wants: ")
		if !ok {
			t.Fatal(file + " does not say what it wants")
		}
		switch _, err := render(text); {
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v, not %q", file, err, want)
		case strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: the text holds the secret: %v", file, err)
		}
	}
}

// TestConfined: the pod has no more than it needs.
func TestConfined(t *testing.T) {
	for _, values := range []string{"defaults", "everything", "sealed"} {
		pod := podOf(t, rendered(t, values))
		if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
			t.Errorf("%s: the pod has a token of the cluster", values)
		}
		if c := pod.SecurityContext; !c.RunAsNonRoot || c.RunAsUser != 65532 || c.SeccompProfile.Type != "RuntimeDefault" {
			t.Errorf("%s: the pod is not confined: %+v", values, c)
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			s := c.SecurityContext
			if !s.ReadOnlyRootFilesystem || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) || len(s.Capabilities.Add) != 0 {
				t.Errorf("%s: %s is not confined: %+v", values, c.Name, s)
			}
		}
		server := pod.Containers[0]
		if server.ReadinessProbe.HTTPGet.Path != "/readyz" || server.LivenessProbe.HTTPGet.Path != "/healthz" {
			t.Errorf("%s: the probes are %+v and %+v", values, server.ReadinessProbe, server.LivenessProbe)
		}
		for _, e := range server.Env {
			if e.Value != "" || e.ValueFrom.SecretKeyRef.Name == "" {
				t.Errorf("%s: %s is not from a Secret", values, e.Name)
			}
		}
	}
}

// TestSettings: the values know every setting of the server, but for those that the chart
// sets itself, and no other.
func TestSettings(t *testing.T) {
	var example, schema object
	for file, to := range map[string]*object{"../latchkey.example.yaml": &example, "latchkey/values.schema.json": &schema} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, to); err != nil {
			t.Fatal(err)
		}
	}
	own := []string{
		"authProxy.listen", "console.listen", "frames", "listen", "log.state", "masterKey", "metrics", "operator",
		"previousMasterKey", "seal", "store", "tls",
	}
	config := schema["properties"].(object)["config"].(object)
	differ(t, "", example, config, own)

	text, err := os.ReadFile("latchkey/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values object
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	differ(t, "", values, schema, []string{"config", "global"})
}

// differ names what only one of a file and a schema has, except what is listed.
func differ(t *testing.T, path string, file, schema object, except []string) {
	t.Helper()
	known, ok := schema["properties"].(object)
	if !ok {
		return // anything may stand here
	}
	for name, value := range file {
		full := strings.TrimPrefix(path+"."+name, ".")
		below, isObject := value.(object)
		at, ok := known[name].(object)
		switch {
		case slices.Contains(except, full):
		case !ok:
			t.Errorf("values.schema.json does not know %s", full)
		case isObject:
			differ(t, full, below, at, except)
		}
	}
	for name := range known {
		full := strings.TrimPrefix(path+"."+name, ".")
		if _, ok := file[name]; !ok && !slices.Contains(except, full) {
			t.Errorf("values.schema.json has %s, which is not listed", full)
		}
	}
}
