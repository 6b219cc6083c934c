{{- define "name" -}}
{{- if contains "qdrant" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-qdrant{{ end }}
{{- end }}

{{- define "selector" -}}
app: qdrant
app.kubernetes.io/name: qdrant
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "labels" -}}
helm.sh/chart: qdrant-{{ .Chart.Version }}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* A key given as it is, or by name of a Secret that is there already; given the root and the value. */}}
{{- define "key" -}}
{{- if kindIs "map" .key }}
{{- $secret := lookup "v1" "Secret" .root.Release.Namespace .key.valueFrom.secretKeyRef.name }}
{{- if $secret }}{{ get $secret.data .key.valueFrom.secretKeyRef.key | b64dec }}{{ end }}
{{- else }}{{ .key }}{{ end }}
{{- end }}
