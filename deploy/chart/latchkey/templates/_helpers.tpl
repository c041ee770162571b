{{- define "latchkey.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "latchkey.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "latchkey.name" .) .Release.Name -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name (include "latchkey.name" .) | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "latchkey.selector" -}}
app.kubernetes.io/name: {{ include "latchkey.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "latchkey.labels" -}}
{{ include "latchkey.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.image.tag }}
app.kubernetes.io/version: {{ . | trunc 63 | trimSuffix "-" | trimSuffix "." | quote }}
{{- end }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "latchkey.image" -}}
{{- if not (or .Values.image.tag .Values.image.digest) -}}
{{- fail "image.tag is not set: name the version of Latchkey, such as --set image.tag=1.2.3, or its digest in image.digest" -}}
{{- end -}}
{{ .Values.image.repository }}{{ with .Values.image.tag }}:{{ . }}{{ end }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- define "latchkey.sealed" -}}
{{- if .Values.masterKey.seal.secret.name }}yes{{ end -}}
{{- end }}

{{- /* The variable that holds the secret of a recipient of the seal. */ -}}
{{- define "latchkey.sealVariable" -}}
LATCHKEY_SEAL_{{ regexReplaceAll "[^A-Z0-9]" (upper .) "_" }}
{{- end }}

{{- /* Seconds of a duration of Go, rounded up. */ -}}
{{- define "latchkey.seconds" -}}
{{- $ms := 0.0 -}}
{{- range regexFindAll "[0-9.]+(ms|h|m|s)" . -1 -}}
{{- $n := regexFind "^[0-9.]+" . | float64 -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- $ms = addf $ms (mulf $n (get (dict "ms" 1.0 "s" 1000.0 "m" 60000.0 "h" 3600000.0) $unit)) -}}
{{- end -}}
{{ divf $ms 1000.0 | ceil | int }}
{{- end }}

{{- /* A secret in the values would be in the release, and readable for all who may read
it. Its value is not repeated. */ -}}
{{- define "latchkey.checkSecrets" -}}
{{- $mail := get .Values.config "mail" | default dict -}}
{{- $sms := get .Values.config "sms" | default dict -}}
{{- if not (regexMatch "^$|^(env|file):." (get $mail "password" | default "")) -}}
{{- fail "config.mail.password must be env:NAME or file:PATH, not the password itself: name its Secret in env" -}}
{{- end -}}
{{- if and (regexMatch "[?@]" (get $sms "url" | default "")) (not (regexMatch "^(env|file):." (get $sms "url" | default ""))) -}}
{{- fail "config.sms.url holds a token or a password: write env:NAME, and name its Secret in env" -}}
{{- end -}}
{{- range $section := list "sms" "traces" -}}
{{- range $name, $value := get (get $.Values.config $section | default dict) "headers" | default dict -}}
{{- if not (regexMatch "^(env|file):." $value) -}}
{{- fail (printf "config.%s.headers.%s must be env:NAME or file:PATH, not the value itself: name its Secret in env" $section $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* What would fail only when the pods run is refused here. */ -}}
{{- define "latchkey.check" -}}
{{- include "latchkey.checkSecrets" . -}}
{{- $timeouts := get .Values.config "timeouts" | default dict -}}
{{- $lameDuck := include "latchkey.seconds" (get $timeouts "lameDuck" | default "5s" | toString) | int -}}
{{- $drain := include "latchkey.seconds" (get $timeouts "drain" | default "20s" | toString) | int -}}
{{- if le (int .Values.terminationGracePeriodSeconds) (add $lameDuck $drain | int) -}}
{{- fail (printf "terminationGracePeriodSeconds is %d, but a server takes up to %d seconds to end (config.timeouts.lameDuck and drain): set it to more" (int .Values.terminationGracePeriodSeconds) (add $lameDuck $drain)) -}}
{{- end -}}
{{- if include "latchkey.sealed" . -}}
{{- if not .Values.state.claim.enabled -}}
{{- fail "masterKey.seal needs state.claim.enabled: true: a server changes its seal, and one that is lost with the pod is older than the database has seen" -}}
{{- end -}}
{{- if not .Values.masterKey.seal.copyImage -}}
{{- fail "masterKey.seal.copyImage is not set: name an image with a shell that puts the seal into the state folder" -}}
{{- end -}}
{{- if and .Values.masterKey.seal.http (not .Values.tls.secret) -}}
{{- fail "masterKey.seal.http needs tls.secret: shares are not taken over plain HTTP" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.host is not set: name the host by which clients reach the server, such as keys.example.com" -}}
{{- end -}}
{{- if and .Values.ingress.framesHost (not .Values.frames.enabled) -}}
{{- fail "ingress.framesHost is set, but there are no frames: set frames.enabled, or leave it empty" -}}
{{- end -}}
{{- if and .Values.ingress.framesHost (eq .Values.ingress.framesHost .Values.ingress.host) -}}
{{- fail "ingress.framesHost is ingress.host: the frames need a host of their own" -}}
{{- end -}}
{{- end }}

{{- /* The config file: the settings of the values, and those that follow from the pod. */ -}}
{{- define "latchkey.config" -}}
{{- $c := deepCopy .Values.config -}}
{{- $_ := set $c "listen" ":8080" -}}
{{- $_ := set $c "store" (dict "url" "env:LATCHKEY_STORE" "durability" .Values.store.durability) -}}
{{- $_ := set $c "metrics" (dict "listen" ":9090") -}}
{{- $_ := set $c "log" (merge (dict "state" "/var/lib/latchkey/latchkey.state") (get $c "log" | default dict)) -}}
{{- if include "latchkey.sealed" . -}}
{{- $_ := set $c "masterKey" "seal:/var/lib/latchkey/seal.json" -}}
{{- $secrets := dict -}}
{{- range $name, $secret := .Values.masterKey.seal.recipients -}}
{{- $_ := set $secrets $name (printf "env:%s" (include "latchkey.sealVariable" $name)) -}}
{{- end -}}
{{- $_ := set $c "seal" (dict "secrets" $secrets "http" .Values.masterKey.seal.http) -}}
{{- else -}}
{{- $_ := set $c "masterKey" "env:LATCHKEY_MASTER_KEY" -}}
{{- end -}}
{{- if .Values.masterKey.previous.name -}}
{{- $_ := set $c "previousMasterKey" "env:LATCHKEY_PREVIOUS_MASTER_KEY" -}}
{{- end -}}
{{- if .Values.tls.secret -}}
{{- $_ := set $c "tls" (dict "certificate" "/etc/ssl/latchkey/tls.crt" "key" "/etc/ssl/latchkey/tls.key") -}}
{{- end -}}
{{- if .Values.frames.enabled -}}
{{- $_ := set $c "frames" (dict "listen" ":8083") -}}
{{- end -}}
{{ toYaml $c }}
{{- end }}
