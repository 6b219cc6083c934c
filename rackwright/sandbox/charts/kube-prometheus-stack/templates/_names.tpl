{{- define "name" -}}
{{- if contains "kube-prometheus-stack" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-kube-prometheus-stack{{ end }}
{{- end }}

{{- /* Labels of what the chart itself makes. */}}
{{- define "labels" -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.Version }}
app.kubernetes.io/part-of: kube-prometheus-stack
chart: kube-prometheus-stack-{{ .Chart.Version }}
release: {{ .Release.Name }}
heritage: {{ .Release.Service }}
{{- end }}

{{- /* Labels of what its subcharts make; given the root and the subchart's name. */}}
{{- define "part.selector" -}}
app.kubernetes.io/name: {{ .part }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{- define "part.labels" -}}
helm.sh/chart: {{ .part }}-{{ .root.Chart.Version }}
{{ include "part.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion }}
{{- if ne .part "grafana" }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/component: metrics
app.kubernetes.io/part-of: {{ .part }}
release: {{ .root.Release.Name }}
{{- end }}
{{- end }}
