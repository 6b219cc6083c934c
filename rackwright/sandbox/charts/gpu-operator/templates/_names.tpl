{{- define "selector" -}}
app.kubernetes.io/component: gpu-operator
app: gpu-operator
{{- end }}

{{- define "labels" -}}
app.kubernetes.io/name: gpu-operator
helm.sh/chart: gpu-operator-{{ .Chart.Version }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/component: gpu-operator
{{- end }}

{{- define "discovery.name" -}}
{{ .Release.Name }}-node-feature-discovery
{{- end }}

{{- define "discovery.selector" -}}
app.kubernetes.io/name: node-feature-discovery
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
