{{- /* The pods of the Deployment and of the StatefulSet. */ -}}
{{- define "latchkey.pod" -}}
{{- include "latchkey.check" . -}}
metadata:
  annotations:
    # A changed config is a new pod.
    checksum/config: {{ include "latchkey.config" . | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  labels:
    {{- include "latchkey.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "latchkey.fullname" . }}
  # The server asks nothing of the cluster.
  automountServiceAccountToken: false
  enableServiceLinks: false
  # From SIGTERM on the server is not ready, takes requests for timeouts.lameDuck, and
  # finishes those under way for timeouts.drain: no preStop is needed.
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    # Else each mount would make the server's own files readable by the group, and it
    # refuses those.
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- if include "latchkey.sealed" . }}
  initContainers:
    # The seal must be a file that the server can write and no one else can read, which
    # files of a Secret are not. One that the server has changed stays, until the Secret
    # itself is changed.
    - name: seal
      image: {{ .Values.masterKey.seal.copyImage }}
      command:
        - /bin/sh
        - -euc
        - |
          umask 077
          cd /var/lib/latchkey
          if ! cmp -s /seal/seal.json seal.copied; then
            cp /seal/seal.json seal.new && chmod 600 seal.new && mv seal.new seal.json
            cp /seal/seal.json seal.copied.new && mv seal.copied.new seal.copied
          fi
      securityContext:
        {{- include "latchkey.confined" . | nindent 8 }}
      resources:
        requests: { cpu: 10m, memory: 16Mi }
        limits: { memory: 64Mi }
      volumeMounts:
        - { name: seal, mountPath: /seal, readOnly: true }
        - { name: state, mountPath: /var/lib/latchkey }
  {{- end }}
  containers:
    - name: latchkey
      image: {{ include "latchkey.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve, --config, /etc/latchkey/latchkey.yaml, --wait, {{ .Values.databaseWait | quote }}]
      env:
        - name: LATCHKEY_STORE
          {{- include "latchkey.fromSecret" .Values.store.secret | nindent 10 }}
        {{- if include "latchkey.sealed" . }}
        {{- range $name, $secret := .Values.masterKey.seal.recipients }}
        - name: {{ include "latchkey.sealVariable" $name }}
          {{- include "latchkey.fromSecret" $secret | nindent 10 }}
        {{- end }}
        {{- else }}
        - name: LATCHKEY_MASTER_KEY
          {{- include "latchkey.fromSecret" .Values.masterKey.secret | nindent 10 }}
        {{- end }}
        {{- if .Values.masterKey.previous.name }}
        - name: LATCHKEY_PREVIOUS_MASTER_KEY
          {{- include "latchkey.fromSecret" .Values.masterKey.previous | nindent 10 }}
        {{- end }}
        {{- range $name, $secret := .Values.env }}
        - name: {{ $name }}
          {{- include "latchkey.fromSecret" $secret | nindent 10 }}
        {{- end }}
      ports:
        - { name: http, containerPort: 8080 }
        - { name: metrics, containerPort: 9090 }
        {{- if .Values.frames.enabled }}
        - { name: frames, containerPort: 8083 }
        {{- end }}
      # While it waits for the database nothing is answered; then it is alive, sealed or
      # not.
      startupProbe:
        httpGet: { path: /healthz, port: http, scheme: {{ include "latchkey.scheme" . }} }
        periodSeconds: 5
        failureThreshold: {{ add 12 (div (include "latchkey.seconds" .Values.databaseWait | int) 5) }}
      livenessProbe:
        httpGet: { path: /healthz, port: http, scheme: {{ include "latchkey.scheme" . }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      readinessProbe:
        httpGet: { path: /readyz, port: http, scheme: {{ include "latchkey.scheme" . }} }
        # Sooner than timeouts.lameDuck is over. The server looks for at most 2 seconds.
        periodSeconds: 2
        timeoutSeconds: 3
        failureThreshold: 2
      securityContext:
        {{- include "latchkey.confined" . | nindent 8 }}
      {{- with .Values.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - { name: config, mountPath: /etc/latchkey, readOnly: true }
        - { name: state, mountPath: /var/lib/latchkey }
        {{- if .Values.tls.secret }}
        - { name: tls, mountPath: /etc/ssl/latchkey, readOnly: true }
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap:
        name: {{ include "latchkey.fullname" . }}
    {{- if not .Values.state.claim.enabled }}
    - name: state
      emptyDir: { sizeLimit: 16Mi }
    {{- end }}
    {{- if .Values.tls.secret }}
    - name: tls
      secret:
        secretName: {{ .Values.tls.secret }}
        defaultMode: 0440
    {{- end }}
    {{- if include "latchkey.sealed" . }}
    - name: seal
      secret:
        secretName: {{ .Values.masterKey.seal.secret.name }}
        defaultMode: 0440
        items:
          - { key: {{ .Values.masterKey.seal.secret.key | quote }}, path: seal.json }
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  # Servers on one node would be lost together.
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "latchkey.selector" . | nindent 10 }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
{{- end }}

{{- define "latchkey.scheme" -}}
{{ if .Values.tls.secret }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}

{{- define "latchkey.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "latchkey.fromSecret" -}}
valueFrom:
  secretKeyRef:
    name: {{ .name }}
    key: {{ .key | quote }}
{{- end }}
