{{- define "labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "image" -}}
{{- $image := index .root.Values.images .name -}}
{{ $image.repository }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{/* A sidecar of the controller: name, image, further arguments, port of its health. */}}
{{- define "sidecar" -}}
- name: csi-{{ .name }}
  image: {{ include "image" . | quote }}
  imagePullPolicy: IfNotPresent
  args:
    - --v=2
    - --csi-address=/csi/csi.sock
    - --http-endpoint=127.0.0.1:{{ .port }}
    - --leader-election
    - --leader-election-namespace={{ .root.Release.Namespace }}
    {{- range .args }}
    - {{ . }}
    {{- end }}
  livenessProbe:
    httpGet:
      host: 127.0.0.1
      path: /healthz/leader-election
      port: {{ .port }}
    initialDelaySeconds: 10
    periodSeconds: 20
    timeoutSeconds: 10
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities:
      drop: [ALL]
  volumeMounts:
    - name: socket
      mountPath: /csi
{{- end }}
