{{- define "selector" -}}
app.kubernetes.io/name: lws
app.kubernetes.io/instance: {{ .Release.Name }}
control-plane: controller-manager
{{- end }}

{{- define "labels" -}}
helm.sh/chart: lws-{{ .Chart.Version }}
app.kubernetes.io/name: lws
app.kubernetes.io/version: {{ .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
