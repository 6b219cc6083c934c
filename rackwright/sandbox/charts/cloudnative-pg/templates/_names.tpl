{{- define "name" -}}
{{- if contains "cloudnative-pg" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-cloudnative-pg{{ end }}
{{- end }}

{{- define "selector" -}}
app.kubernetes.io/name: cloudnative-pg
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "labels" -}}
helm.sh/chart: cloudnative-pg-{{ .Chart.Version }}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
