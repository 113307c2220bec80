{{- /* The names of the objects are fixed: a cluster has one probelet, and its policies name its ServiceAccounts. */ -}}

{{- define "probelet.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "probelet.labels" -}}
app.kubernetes.io/name: probelet
app.kubernetes.io/component: {{ . }}
{{- end }}
