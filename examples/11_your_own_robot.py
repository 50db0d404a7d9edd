# SPDX-License-Identifier: Apache-2.0
"""Your own robot: a URDF alone is enough; what was assumed is said.

By hand: 12 kg on one foot weigh 117.72 N.
"""

import humanoid_dynamics as hd

URDF = """<robot name="hopper">
  <link name="base"><inertial><mass value="10"/><inertia ixx="0.2" iyy="0.2" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hip" type="revolute">
    <parent link="base"/><child link="foot"/><origin xyz="0 0 -0.5"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="50" velocity="10"/>
  </joint>
  <link name="foot">
    <inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.05"/><geometry><box size="0.2 0.1 0.1"/></geometry></collision>
  </link>
</robot>"""


def main() -> float:
    """Return the normal force under the foot [N]."""
    robot = hd.load_robot(URDF)
    for notice in robot.notices:
        print(notice)
    answer = hd.inverse_dynamics(robot, hd.State.at_rest(robot), a=[0.0] * robot.nv)
    print(f"certificate {answer.certificate.status}, residual {answer.certificate.residual:.1e}")
    return sum(wrench.normal_force for wrench in answer.wrenches.values())


if __name__ == "__main__":
    print(f"normal force {main():.2f} N")
