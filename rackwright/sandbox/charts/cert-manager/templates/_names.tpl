{{- define "name" -}}
{{- if contains "cert-manager" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-cert-manager{{ end }}
{{- end }}

{{- /* Given the root and the component's name and role. */}}
{{- define "selector" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "labels" -}}
app: {{ .name }}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}
