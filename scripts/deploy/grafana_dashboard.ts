/**
 * Prints a dashboard for Grafana, with panels for each metric:
 * `deno run scripts/deploy/grafana_dashboard.ts > grafana_dashboard.json`
 */

import { APPLICATION } from "../../src/application.ts";
import { gauge, type Metric, METRICS, ownName } from "../../src/telemetry/metrics.ts";

/** The metrics that commands of the manual write to a file, from which node_exporter reads them. */
const METRICS_OF_COMMANDS = [
  gauge(ownName("audit_success_time_seconds"), "When an audit last found the store sound"),
  gauge(ownName("backup_position"), "Position of the last event in the backup"),
];

/** Three panels in each row of the 24 columns. */
const [PANELS_IN_ROW, WIDTH, HEIGHT] = [3, 8, 7];

const DATASOURCE = { type: "prometheus", uid: "${datasource}" };

interface View {
  title: string;
  description: string;
  type: "timeseries" | "stat";
  /** The id of a unit in Grafana. */
  unit: string;
  /** The queries by the names of their series, as templates of labels. */
  queries: Record<string, string>;
}

/** How a metric is shown, by its type and the unit in its name. `selector` chooses the series. */
function viewsOf({ type, name, help, label }: Metric, selector: string): View[] {
  const legend = `{{${label}}}`;
  const sum = (series: string) => `sum by (${label}) (${series})`;
  const rate = (series: string) => `rate(${series}${selector}[$__rate_interval])`;
  const common = { description: help, type: "timeseries" } as const;
  if (type === "counter") {
    const unit = name.endsWith("_seconds_total") ? "percentunit" : "cps";
    return [{
      ...common,
      title: `${name} per second`,
      unit,
      queries: { [legend]: sum(rate(name)) },
    }];
  }
  if (type === "histogram") {
    const counts = { [legend]: sum(rate(`${name}_count`)) };
    const buckets = `sum by (le, ${label}) (${rate(`${name}_bucket`)})`;
    const quantiles = {
      [`${legend} 50 %`]: `histogram_quantile(0.5, ${buckets})`,
      [`${legend} 99 %`]: `histogram_quantile(0.99, ${buckets})`,
    };
    return [
      { ...common, title: `${name}_count per second`, unit: "cps", queries: counts },
      { ...common, title: name, unit: "s", queries: quantiles },
    ];
  }
  const value = sum(`${name}${selector}`);
  if (name.endsWith("_time_seconds")) {
    const queries = { [legend]: `1000 * ${value}` };
    return [{ ...common, title: name, type: "stat", unit: "dateTimeFromNow", queries }];
  }
  return [{ ...common, title: name, unit: unitOf(name), queries: { [legend]: value } }];
}

function unitOf(name: string): string {
  if (name.endsWith("_bytes")) return "bytes";
  return name.endsWith("_seconds") ? "s" : "short";
}

function panelOf({ title, description, type, unit, queries }: View, index: number) {
  return {
    id: index + 1,
    type,
    title,
    description,
    datasource: DATASOURCE,
    gridPos: {
      h: HEIGHT,
      w: WIDTH,
      x: index % PANELS_IN_ROW * WIDTH,
      y: Math.floor(index / PANELS_IN_ROW) * HEIGHT,
    },
    fieldConfig: { defaults: { unit }, overrides: [] },
    targets: Object.entries(queries).map(([legendFormat, expr], query) => ({
      refId: `Q${query}`,
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}

const views = [
  ...METRICS.flatMap((metric) => viewsOf(metric, '{instance=~"$instance"}')),
  // These have the instance of node_exporter.
  ...METRICS_OF_COMMANDS.flatMap((metric) => viewsOf(metric, "")),
];

const dashboard = {
  title: APPLICATION.name,
  uid: APPLICATION.dashedName,
  schemaVersion: 39,
  editable: true,
  graphTooltip: 1,
  refresh: "30s",
  timezone: "browser",
  time: { from: "now-6h", to: "now" },
  templating: {
    list: [
      { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
      {
        name: "instance",
        label: "Instance",
        type: "query",
        datasource: DATASOURCE,
        query: `label_values(${ownName("ready")}, instance)`,
        refresh: 2,
        multi: true,
        includeAll: true,
        allValue: ".*",
        current: { text: ["All"], value: ["$__all"] },
      },
    ],
  },
  panels: views.map(panelOf),
};

console.log(JSON.stringify(dashboard, null, 2));
