# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics estimate``: the base estimator over recorded sensor data."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from humanoid_dynamics.cli.options import JsonOption
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.errors import HumanoidDynamicsError, RecordError

if TYPE_CHECKING:
    from humanoid_dynamics.estimation.replay import EstimatedRun
    from humanoid_dynamics.model.robot import RobotModel

STARTS = ("still", "truth")
LogArgument = Annotated[
    str,
    typer.Argument(
        help="Bag with imu and joint_states, record of simulate --sensors, or .npz with t, gyro, acc, q.",
        metavar="FILE",
    ),
]
RobotOption = Annotated[
    str,
    typer.Option(
        "--robot", help="Catalogue name or URDF path; the robot description in FILE if not given."
    ),
]
ImuOption = Annotated[
    str,
    typer.Option(
        "--imu", help="Name of the IMU in the robot model; an archive with imu_link needs none."
    ),
]
FloorOption = Annotated[
    float | None,
    typer.Option("--floor", help="Height of a flat floor, a weak measurement of height [m]."),
]
StartOption = Annotated[
    str,
    typer.Option(
        "--start",
        help="still: wait for a calm moment; truth: start in motion with the recorded true orientation.",
    ),
]
OutOption = Annotated[str, typer.Option("--out", help="Numpy archive for the estimates (.npz).")]
PlotOption = Annotated[
    str, typer.Option("--plot", help="PNG of path, height, velocity, attitude and contacts.")
]
ENDINGS = {"--out": ".npz", "--plot": ".png"}
WORK = 0.9  # share of the time that the estimator takes
EXAMPLES = """\b
Examples:
  humanoid-dynamics simulate standing --sensors --record run.npz
  humanoid-dynamics estimate run.npz --robot human28
  humanoid-dynamics estimate walk.mcap --robot g1 --plot walk.png --out walk_estimate.npz
  humanoid-dynamics estimate walk.npz --robot g1 --imu torso --floor 0 --json
"""


def estimate(
    file: LogArgument,
    *,
    robot: RobotOption = "",
    imu: ImuOption = "base",
    floor: FloorOption = None,
    start: StartOption = STARTS[0],
    out: OutOption = "",
    plot: PlotOption = "",
    as_json: JsonOption = False,
) -> None:
    """Estimate base motion and contacts from recorded IMU and joint data, and compare with the true motion if recorded."""
    from humanoid_dynamics.estimation.replay import align_truth, estimate_log
    from humanoid_dynamics.estimation.sensor_log import load_sensor_log
    from humanoid_dynamics.estimation.settings import EstimatorSettings

    if start not in STARTS:
        raise HumanoidDynamicsError(f"--start: received {start!r}, expected {' or '.join(STARTS)}")
    for (option, ending), path in zip(ENDINGS.items(), (out, plot), strict=True):
        if path and not path.endswith(ending):
            raise HumanoidDynamicsError(
                f"{option}: received {path!r}, expected a path that ends in {ending}"
            )
    with show_progress(f"estimating {Path(file).name}") as bar:
        model = _load_robot(file, robot)
        log = load_sensor_log(file, model, imu)
        settings = EstimatorSettings(floor_height=floor)
        run = estimate_log(
            model,
            log,
            settings,
            start=start,
            progress=lambda share: bar.tell(WORK * share),
        )
        truth = None if log.truth is None else align_truth(run, log.truth)
        facts = _describe(model, log, run, truth)
        if out:
            _save(run, Path(out))
        if plot:
            from humanoid_dynamics.plotting.estimate import draw_estimate

            draw_estimate(run, truth, f"{model.name}: {Path(file).name}", Path(plot))
    facts["files"] = [path for path in (out, plot) if path]
    if as_json:
        typer.echo(json.dumps(facts, indent=2, allow_nan=False))
    else:
        _print(facts)


def _load_robot(file: str, source: str) -> "RobotModel":
    from humanoid_dynamics.estimation.sensor_log import find_description
    from humanoid_dynamics.model.load import load_robot

    if not Path(file).exists():
        raise RecordError(file, "does not exist; expected a bag or a numpy archive (.npz)")
    source = source or find_description(file)
    if not source:
        raise RecordError(file, "holds no robot description; name the robot with --robot")
    return load_robot(source)


def _describe(robot: "RobotModel", log: Any, run: "EstimatedRun", truth: Any) -> dict[str, Any]:
    """Return the run in plain data, ready for JSON: SI units, angles in degrees."""
    import numpy as np

    from humanoid_dynamics.estimation.replay import measure_contacts, measure_errors

    errors = {} if truth is None else measure_errors(run, truth)
    finite = {key: value if np.isfinite(value) else None for key, value in errors.items()}
    return {
        "file": log.origin,
        "robot": robot.name,
        "imu": {"name": log.imu.name, "link": log.imu.link},
        "seconds": log.duration,
        "imu_samples": len(log.imu_times),
        "joint_samples": len(log.joint_times),
        "estimates": len(run.track.times),
        "start": float(run.track.times[0] - log.imu_times[0]),
        "end_pose": run.track.pose[-1].tolist(),
        "end_deviation": run.deviation[-1].tolist(),
        "gyro_bias": run.gyro_bias.tolist(),
        "acc_bias": run.acc_bias.tolist(),
        "contact_share": dict(zip(run.contacts, run.closed.mean(axis=0).tolist(), strict=True)),
        "statuses": dict(run.statuses),
        "faults": dict(run.faults),
        "errors": finite or None,
        "right_contacts": measure_contacts(run, log),
    }


def _save(run: "EstimatedRun", path: Path) -> None:
    import numpy as np

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(
            path,
            t=run.track.times,
            pose=run.track.pose,
            twist=run.track.twist,
            deviation=run.deviation,
            contacts=np.array(run.contacts),
            probability=run.probability,
            closed=run.closed,
            load=run.load,
        )
    except OSError as cause:
        raise HumanoidDynamicsError(f"{path}: cannot be written: {cause}") from cause


LABELS = {
    "path": ("length of the path", "{:.2f} m", 1.0),
    "drift": ("drift at the end", "{:.3f} m", 1.0),
    "drift_of_path": ("drift of the path", "{:.2f} %", 100.0),
    "velocity_rms": ("velocity, RMS, base axes", "{:.3f} m/s", 1.0),
    "tilt_rms_deg": ("roll and pitch, RMS", "{:.2f} deg", 1.0),
    "yaw_end_deg": ("heading at the end", "{:.2f} deg", 1.0),
    "height_rms": ("height, RMS", "{:.1f} mm", 1e3),
    "height_end": ("height at the end", "{:.1f} mm", 1e3),
}


def _print(facts: dict[str, Any]) -> None:
    console = make_console()
    console.print(
        f"{facts['file']}: {facts['robot']}, IMU {facts['imu']['name']} on {facts['imu']['link']}, "
        f"{facts['seconds']:.2f} s, {facts['imu_samples']} IMU and {facts['joint_samples']} joint samples",
        markup=False,
        highlight=False,
    )
    counts = {**facts["statuses"], **facts["faults"]}
    print_table(
        console, "status", ("", "estimates"), [(name, str(n)) for name, n in counts.items()]
    )
    share = facts["contact_share"]
    right = facts["right_contacts"]
    rows = [
        (name, f"{100 * closed:.1f} %", f"{100 * right[name]:.1f} %" if name in right else "")
        for name, closed in share.items()
    ]
    console.print()
    print_table(console, "contacts", ("", "closed", "right, force above 20 N"), rows)
    if facts["errors"] is not None:
        errors = [
            (label, form.format(scale * facts["errors"][key]))
            for key, (label, form, scale) in LABELS.items()
            if facts["errors"][key] is not None
        ]
        console.print()
        print_table(console, "errors against the true motion", ("", "value"), errors)
    for path in facts["files"]:
        console.print(f"written: {path}", markup=False, highlight=False, soft_wrap=True)
