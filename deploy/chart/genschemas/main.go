// Command genschemas writes the JSON schemas by which kubeconform judges what the chart
// renders: one file for each kind that the chart has, with all that the kind refers to,
// and without any text. Each object is closed, so that a misspelt field is noticed.
//
// It is given the OpenAPI document of Kubernetes (api/openapi-spec/swagger.json of the
// module k8s.io/kubernetes) and the definition of the ServiceMonitor of the Prometheus
// Operator; scripts/chart-schemas fetches both.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// kinds are those that the chart renders: the file, as kubeconform looks for it, and the
// definition in the document of Kubernetes.
var kinds = map[string]string{
	"configmap-v1":                  "io.k8s.api.core.v1.ConfigMap",
	"deployment-apps-v1":            "io.k8s.api.apps.v1.Deployment",
	"ingress-networking-v1":         "io.k8s.api.networking.v1.Ingress",
	"networkpolicy-networking-v1":   "io.k8s.api.networking.v1.NetworkPolicy",
	"poddisruptionbudget-policy-v1": "io.k8s.api.policy.v1.PodDisruptionBudget",
	"service-v1":                    "io.k8s.api.core.v1.Service",
	"serviceaccount-v1":             "io.k8s.api.core.v1.ServiceAccount",
	"statefulset-apps-v1":           "io.k8s.api.apps.v1.StatefulSet",
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: genschemas SWAGGER SERVICE-MONITOR OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(swagger, monitor, out string) error {
	text, err := os.ReadFile(swagger)
	if err != nil {
		return err
	}
	var document struct {
		Definitions map[string]object `json:"definitions"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	for file, name := range kinds {
		top, ok := document.Definitions[name]
		if !ok {
			return errors.New("the document has no " + name)
		}
		s := schemas{from: document.Definitions, used: map[string]any{}}
		schema := s.closed(top)
		schema["required"] = []string{"apiVersion", "kind", "metadata"}
		pin(schema, top)
		schema["definitions"] = s.used
		if err := write(filepath.Join(out, file+".json"), schema); err != nil {
			return err
		}
	}
	schema, err := serviceMonitor(monitor)
	if err != nil {
		return err
	}
	return write(filepath.Join(out, "servicemonitor-monitoring-v1.json"), schema)
}

type object = map[string]any

// schemas is one schema that is being made: what it refers to is collected.
type schemas struct {
	from map[string]object
	used map[string]any
}

// pin says which apiVersion and kind the resource has.
func pin(schema, top object) {
	is, ok := top["x-kubernetes-group-version-kind"].([]any)
	if !ok {
		return
	}
	gvk := is[0].(object)
	version := gvk["version"].(string)
	if group := gvk["group"].(string); group != "" {
		version = group + "/" + version
	}
	properties := schema["properties"].(object)
	properties["apiVersion"] = object{"const": version}
	properties["kind"] = object{"const": gvk["kind"]}
}

// closed is a schema without texts, in which objects have no other members than those
// that are named.
func (s *schemas) closed(of object) object {
	if ref, ok := of["$ref"].(string); ok {
		return s.reference(strings.TrimPrefix(ref, "#/definitions/"))
	}
	if of["format"] == "int-or-string" || of["x-kubernetes-int-or-string"] == true {
		return object{"type": []string{"string", "integer"}}
	}
	made := object{}
	for _, name := range []string{"type", "enum", "required", "pattern", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"} {
		if value, ok := of[name]; ok {
			made[name] = value
		}
	}
	if items, ok := of["items"].(object); ok {
		made["items"] = s.closed(items)
	}
	if others, ok := of["additionalProperties"].(object); ok {
		made["additionalProperties"] = s.closed(others)
	}
	if properties, ok := of["properties"].(object); ok {
		all := object{}
		for name, property := range properties {
			all[name] = s.closed(property.(object))
		}
		made["properties"], made["additionalProperties"] = all, false
	}
	return made
}

func (s *schemas) reference(name string) object {
	if strings.HasSuffix(name, ".api.resource.Quantity") {
		return object{"type": []string{"string", "number"}}
	}
	if _, ok := s.used[name]; !ok {
		s.used[name] = nil // it may refer to itself
		s.used[name] = s.closed(s.from[name])
	}
	return object{"$ref": "#/definitions/" + name}
}

// serviceMonitor is the schema in the definition of the resource, which has no
// references.
func serviceMonitor(path string) (object, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Name   string `json:"name"`
				Schema struct {
					OpenAPIV3Schema object `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return nil, err
	}
	for _, version := range definition.Spec.Versions {
		if version.Name != "v1" {
			continue
		}
		var s schemas
		schema := s.closed(version.Schema.OpenAPIV3Schema)
		properties := schema["properties"].(object)
		properties["apiVersion"] = object{"const": "monitoring.coreos.com/v1"}
		properties["kind"] = object{"const": "ServiceMonitor"}
		properties["metadata"] = object{
			"type": "object", "additionalProperties": false, "required": []string{"name"},
			"properties": object{
				"name": object{"type": "string"}, "namespace": object{"type": "string"},
				"labels":      object{"type": "object", "additionalProperties": object{"type": "string"}},
				"annotations": object{"type": "object", "additionalProperties": object{"type": "string"}},
			},
		}
		schema["required"] = []string{"apiVersion", "kind", "metadata", "spec"}
		return schema, nil
	}
	return nil, errors.New(path + " has no version v1")
}

func write(path string, schema object) error {
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	if err := to.Encode(schema); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}
