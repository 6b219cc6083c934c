{{- define "name" -}}
{{- if contains "plugin-barman-cloud" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-plugin-barman-cloud{{ end }}
{{- end }}

{{- define "selector" -}}
app.kubernetes.io/name: plugin-barman-cloud
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "labels" -}}
helm.sh/chart: plugin-barman-cloud-{{ .Chart.Version }}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
